//! Links the function at a fixed address where it is built for release: the loader then has no addresses to correct
//! before `main`. A flag of the linker for this program alone, because some dependencies are built as shared libraries
//! too, which cannot have it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
