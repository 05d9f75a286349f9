//! Names as Elsa derives them.

/// The activity type of a workflow, by Elsa's rule up to 3.5: the first character and each one after an underscore
/// or a space in upper case, those separators dropped.
#[must_use]
pub fn type_name(workflow: &str) -> String {
    pascal(workflow, |c| c == '_' || c == ' ')
}

/// The same by Elsa's rule from 3.6 on, which drops dashes too.
#[must_use]
pub fn type_name_modern(workflow: &str) -> String {
    pascal(workflow, |c| c == '_' || c == ' ' || c == '-')
}

/// A key under which every spelling of a workflow's type name is the same.
#[must_use]
pub fn type_key(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// A name with its first letter in upper case and separators dropped, as script accessors spell it.
#[must_use]
pub fn pascal_case(name: &str) -> String {
    pascal(name, |c| c == '_' || c == ' ' || c == '-')
}

/// A name with its first letter in lower case, as inputs are written in JSON.
#[must_use]
pub fn camel_case(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// A property name as activity state shows it: the first letter in upper case.
#[must_use]
pub fn property_name(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

fn pascal(text: &str, is_separator: impl Fn(char) -> bool) -> String {
    let mut raise = true;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_separator(c) {
            raise = true;
        } else if raise {
            out.extend(c.to_uppercase());
            raise = false;
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_workflows_type_share_a_key() {
        let name = "Input Output Logging 3 - Child";
        assert_eq!(type_name(name), "InputOutputLogging3-Child");
        assert_eq!(type_name("Subworkflow test"), "SubworkflowTest");
        assert_eq!(
            type_name("CacheInvalidation_Child"),
            "CacheInvalidationChild"
        );
        assert_eq!(
            type_key(&type_name(name)),
            type_key(&type_name_modern(name))
        );
    }
}
