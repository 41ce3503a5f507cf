//! Reports in every form. A form is a variant of [`Format`] and an arm of [`render_as`].

use crate::options::RenderOptions;
use crate::subject::Subject;
use crate::{json, normal, terse};
use record::Format;

/// The report in all of these forms, in the order of [`Format::ALL`]. `json+` includes `json`.
pub fn render(subject: Subject, formats: &[Format], options: &RenderOptions) -> String {
    let is_included = |f: &Format| *f == Format::Json && formats.contains(&Format::JsonPlus);
    let asked = Format::ALL.into_iter().filter(|f| formats.contains(f) && !is_included(f));
    asked.map(|format| render_as(format, subject, options)).collect()
}

/// The report in one form.
pub fn render_as(format: Format, subject: Subject, options: &RenderOptions) -> String {
    match format {
        Format::Terse => terse::render(subject, options),
        Format::Json => json::render(subject, false, options),
        Format::JsonPlus => json::render(subject, true, options),
        Format::Normal => normal::render(subject, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn formats_come_in_one_order_whatever_was_asked() {
        let record = testing::mixed();
        let judged = judge::judge(&record);
        let formats = [Format::Normal, Format::Json, Format::Terse];
        let text = render(Subject::Run(&record, &judged), &formats, &RenderOptions::default());
        let at = |part: &str| text.find(part).expect(part);
        assert!(at("3;fio-3.42-fathom-") < at("{\n  \"fio version\""));
        assert!(at("\"jobs\"") < at("mixed: (groupid=0, jobs=1)"));
    }
}
