//! The variables of an environment by their names: words, numbers, lists, and what is told of one that is wrong.

/// Why the environment cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// A variable that is needed is not set.
    #[error("the environment variable {name} is not set: {why}")]
    Missing {
        /// The variable.
        name: &'static str,
        /// What it is for.
        why: &'static str,
    },
    /// A variable says what nobody understands.
    #[error("the environment variable {name} is `{value}`; it takes {takes}")]
    Wrong {
        /// The variable.
        name: &'static str,
        /// What it says.
        value: String,
        /// What it may say.
        takes: &'static str,
    },
}

/// The variables, each read by its name. An empty one counts as absent.
pub(crate) struct Variables<F>(pub(crate) F);

impl<F: Fn(&'static str) -> Option<String>> Variables<F> {
    pub(crate) fn text(&self, name: &'static str) -> Option<String> {
        let value = (self.0)(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    pub(crate) fn needed(
        &self,
        name: &'static str,
        why: &'static str,
    ) -> Result<String, EnvironmentError> {
        self.text(name)
            .ok_or(EnvironmentError::Missing { name, why })
    }

    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, EnvironmentError> {
        self.one_of(name, &[("false", false), ("true", true)], "true or false")
    }

    pub(crate) fn days(&self, name: &'static str) -> Result<u32, EnvironmentError> {
        let Some(value) = self.text(name) else {
            return Ok(0);
        };
        let takes = "a whole number of days; 0 keeps for ever";
        value
            .parse()
            .map_err(|_| EnvironmentError::Wrong { name, value, takes })
    }

    /// The meaning of one of a few words; the first one's if it is absent.
    pub(crate) fn one_of<T: Copy + Default>(
        &self,
        name: &'static str,
        words: &[(&str, T)],
        takes: &'static str,
    ) -> Result<T, EnvironmentError> {
        let Some(value) = self.text(name) else {
            return Ok(words
                .first()
                .map(|(_, meaning)| *meaning)
                .unwrap_or_default());
        };
        let found = words
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(&value));
        match found {
            Some((_, meaning)) => Ok(*meaning),
            None => Err(EnvironmentError::Wrong { name, value, takes }),
        }
    }

    /// What is separated by commas; nothing if it is absent.
    pub(crate) fn list(&self, name: &'static str) -> Vec<String> {
        let text = self.text(name).unwrap_or_default();
        let words = text.split(',').map(str::trim);
        words.filter(|w| !w.is_empty()).map(str::to_owned).collect()
    }
}
