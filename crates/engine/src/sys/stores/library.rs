//! Libraries that are opened at run time, so that fathom needs none of them to be built or started.

use std::ffi::{CStr, CString, c_void};

/// A library that is open until the process ends.
#[derive(Clone, Copy)]
pub(in crate::sys) struct Library {
    handle: *mut c_void,
    name: &'static str,
}

impl Library {
    /// Opens the first of `names` that is there; `package` is the Debian package that has it.
    pub fn open(names: &[&'static str], package: &str) -> Result<Library, String> {
        Library::open_with(libc::RTLD_LOCAL, names, package)
    }

    /// The same for a library whose plugins look for its functions among those of the program.
    pub fn open_for_plugins(names: &[&'static str], package: &str) -> Result<Library, String> {
        Library::open_with(libc::RTLD_GLOBAL, names, package)
    }

    fn open_with(
        scope: libc::c_int,
        names: &[&'static str],
        package: &str,
    ) -> Result<Library, String> {
        let mut why = String::new();
        for name in names {
            let path = c_string(name)?;
            // SAFETY: the name ends with a NUL. Initialisers of these libraries have no requirements
            // that a program could break.
            let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | scope) };
            if !handle.is_null() {
                return Ok(Library { handle, name });
            }
            why = last_error();
        }
        let wanted = names.first().copied().unwrap_or_default();
        Err(format!("{wanted} cannot be opened ({why}); on Debian, apt-get install {package}"))
    }

    /// The name that was opened.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The address of a function or variable; `None` if the library has none of this name.
    pub fn address(&self, name: &str) -> Result<Option<*mut c_void>, String> {
        let symbol = c_string(name)?;
        // SAFETY: the handle is open, the name ends with a NUL.
        let address = unsafe { libc::dlsym(self.handle, symbol.as_ptr()) };
        Ok((!address.is_null()).then_some(address))
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to the function as the library's header declares it.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let address = self.address(name)?.ok_or_else(|| {
            format!("{} has no function {name}: it is too old or too new", self.name)
        })?;
        // SAFETY: `F` is a function pointer by this function's contract, and as large as one.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }
}

fn last_error() -> String {
    // SAFETY: the text stays until the next call of this thread.
    let text = unsafe { libc::dlerror() };
    match text.is_null() {
        true => "no reason given".to_owned(),
        // SAFETY: it ends with a NUL.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    }
}

/// A text for C.
pub(super) fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("'{}' contains a NUL", text.escape_debug()))
}

/// A table of functions of a library, with the types of its header.
macro_rules! functions {
    ($visible:vis $table:ident { $($name:ident: fn($($argument:ty),*) $(-> $answer:ty)?;)* }) => {
        $visible struct $table {
            $($visible $name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)*
        }

        impl $table {
            $visible fn load(library: $crate::sys::stores::library::Library) -> Result<$table, String> {
                Ok($table {
                    // SAFETY: the types are those of the library's header.
                    $($name: unsafe { library.function(stringify!($name))? },)*
                })
            }
        }
    };
}
pub(in crate::sys) use functions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_absent_names_its_package() {
        let absent = ["libthat-nobody-has.so.1", "libthat-nobody-has.so.2"];
        let why = Library::open(&absent, "libnobody1").err().unwrap();
        assert!(why.starts_with("libthat-nobody-has.so.1 cannot be opened ("), "{why}");
        assert!(why.ends_with("; on Debian, apt-get install libnobody1"), "{why}");
    }

    #[test]
    fn a_function_that_a_library_lacks_is_named() {
        type Any = unsafe extern "C" fn();
        let library = Library::open(&["libc.so.6"], "libc6").unwrap();
        assert_eq!(library.name(), "libc.so.6");
        // SAFETY: neither function is called.
        let found = unsafe { (library.function::<Any>("abort"), library.function::<Any>("abrot")) };
        assert!(found.0.is_ok());
        let why = found.1.unwrap_err();
        assert_eq!(why, "libc.so.6 has no function abrot: it is too old or too new");
    }
}
