//! Names of a certificate for messages, with just enough of X.509 (RFC 5280).

/// "'subject', issued by 'issuer'", as far as they can be read.
pub fn names(certificate: &[u8]) -> String {
    match read(certificate) {
        Some((issuer, subject)) if issuer == subject => format!("'{subject}', signed by itself"),
        Some((issuer, subject)) => format!("'{subject}', issued by '{issuer}'"),
        None => "that cannot be read".into(),
    }
}

/// Issuer and subject.
fn read(certificate: &[u8]) -> Option<(String, String)> {
    let whole = Element::first(certificate)?;
    let mut rest = Element::first(whole.content)?.content;
    let mut next = || {
        let element = Element::first(rest)?;
        rest = element.rest;
        Some(element)
    };
    let version_or_serial = next()?;
    if version_or_serial.tag == EXPLICIT_0 {
        next()?;
    }
    let _signature = next()?;
    let issuer = next()?;
    let _validity = next()?;
    let subject = next()?;
    Some((name(issuer.content), name(subject.content)))
}

const EXPLICIT_0: u8 = 0xa0;
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// The common name of a name, or its last attribute; empty if it has none.
fn name(mut sets: &[u8]) -> String {
    let mut found = String::new();
    while let Some(set) = Element::first(sets) {
        sets = set.rest;
        let Some(pair) = Element::first(set.content) else { continue };
        let Some(kind) = Element::first(pair.content) else { continue };
        let Some(value) = Element::first(kind.rest) else { continue };
        let text = String::from_utf8_lossy(value.content);
        found = text.chars().filter(|char| !char.is_control()).take(100).collect();
        if kind.content == COMMON_NAME {
            break;
        }
    }
    found
}

/// A value of DER.
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Element<'a> {
    fn first(bytes: &'a [u8]) -> Option<Element<'a>> {
        let (&tag, bytes) = bytes.split_first()?;
        let (&short, mut bytes) = bytes.split_first()?;
        let mut length = usize::from(short);
        if short >= 0x80 {
            length = 0;
            for _ in 0..short & 0x7f {
                let (&byte, rest) = bytes.split_first()?;
                bytes = rest;
                length = length.checked_mul(256)? | usize::from(byte);
            }
        }
        let (content, rest) = bytes.split_at_checked(length)?;
        Some(Element { tag, content, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair};

    #[test]
    fn a_certificate_is_named() {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["a.example".into()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "Ann's disk");
        params.distinguished_name.push(DnType::OrganizationName, "Ann");
        let own = params.self_signed(&key).unwrap();
        assert_eq!(names(own.der()), "'Ann's disk', signed by itself");
        let issuer = rcgen::Issuer::new(params, key);
        let leaf = CertificateParams::new(vec!["b.example".into()]).unwrap();
        let leaf = leaf.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap();
        assert!(names(leaf.der()).ends_with("issued by 'Ann's disk'"), "{}", names(leaf.der()));
    }

    #[test]
    fn any_other_bytes_are_not() {
        let key = KeyPair::generate().unwrap();
        let whole = CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap();
        for end in 0..whole.der().len() {
            assert_eq!(names(&whole.der()[..end]), "that cannot be read", "{end}");
        }
        assert_eq!(names(&[0x30, 0xff, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), "that cannot be read");
    }
}
