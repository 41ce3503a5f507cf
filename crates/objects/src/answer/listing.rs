//! Parses the documents of answers: lists of objects, names of uploads.

use super::{shortened, text_of};
use crate::sign::decoded;
use crate::{Failure, Protocol};
use roxmltree::{Document, Node};
use serde_json::Value;

/// One page of a list of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Objects, in the server's order.
    pub entries: Vec<Entry>,
    /// The continuation token of the next page; `None`: this is the last page.
    pub continuation: Option<String>,
}

/// An object in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its key within its bucket or container; with WebDAV the whole path.
    pub key: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its entity tag as sent by the server, if any.
    pub tag: Option<String>,
}

impl Listing {
    /// Parses the answer to a list request with at most `max_keys`. An invalid answer is
    /// [`Failure::Garbage`].
    pub fn read(protocol: Protocol, document: &[u8], max_keys: u32) -> Result<Listing, Failure> {
        let text = utf8(document, "a list")?;
        match protocol {
            Protocol::S3 => s3(text),
            Protocol::WebDav => webdav(text),
            Protocol::Swift => swift(text, max_keys),
        }
    }
}

/// The name of a new upload.
pub fn upload(document: &[u8]) -> Result<String, Failure> {
    const WHAT: &str = "an InitiateMultipartUploadResult";
    let text = utf8(document, WHAT)?;
    let document = parse(text, WHAT)?;
    match text_of(document.root_element(), "UploadId") {
        Some(id) if !id.is_empty() => Ok(id.to_owned()),
        _ => Err(Failure::Garbage(format!("expected {WHAT} with an UploadId"))),
    }
}

fn s3(text: &str) -> Result<Listing, Failure> {
    const WHAT: &str = "a ListBucketResult";
    let document = parse(text, WHAT)?;
    let root = document.root_element();
    if root.tag_name().name() != "ListBucketResult" {
        let name = shortened(root.tag_name().name());
        return Err(Failure::Garbage(format!("expected {WHAT}, it is a '{name}'")));
    }
    let own = |name| {
        let mut children = root.children().filter(Node::is_element);
        children.find(|node| node.tag_name().name() == name).and_then(|node| node.text())
    };
    // A server that does not support the encoding does not name it, and sends keys unencoded.
    let encoded = own("EncodingType").is_some_and(|kind| kind.trim().eq_ignore_ascii_case("url"));
    let contents = root.children().filter(|node| node.tag_name().name() == "Contents");
    let entries = contents.map(|node| s3_entry(node, encoded)).collect::<Result<_, _>>()?;
    let more = own("IsTruncated").is_some_and(|more| more.trim() == "true");
    let next = own("NextContinuationToken").map(str::to_owned);
    if more && next.is_none() {
        let why = "a list that goes on, and no NextContinuationToken: expected an answer to \
                   ListObjectsV2";
        return Err(Failure::Garbage(why.into()));
    }
    Ok(Listing { entries, continuation: next.filter(|_| more) })
}

fn s3_entry(node: Node<'_, '_>, encoded: bool) -> Result<Entry, Failure> {
    let child = |name| {
        let mut children = node.children().filter(Node::is_element);
        children.find(|child| child.tag_name().name() == name).and_then(|child| child.text())
    };
    let key = child("Key").unwrap_or_default();
    let key = if encoded { text(decoded(key, true), "a key")? } else { key.to_owned() };
    let size = number(child("Size").unwrap_or_default())?;
    Ok(Entry { key, size, tag: child("ETag").map(|tag| tag.trim().to_owned()) })
}

/// Collections are skipped.
fn webdav(text: &str) -> Result<Listing, Failure> {
    const WHAT: &str = "a multistatus";
    let document = parse(text, WHAT)?;
    let root = document.root_element();
    if root.tag_name().name() != "multistatus" {
        let name = shortened(root.tag_name().name());
        return Err(Failure::Garbage(format!("expected {WHAT}, it is a '{name}'")));
    }
    let mut entries = Vec::new();
    for node in root.children().filter(|node| node.tag_name().name() == "response") {
        let is_collection = node.descendants().any(|node| node.tag_name().name() == "collection");
        let Some(place) = text_of(node, "href").filter(|_| !is_collection) else { continue };
        // It may be a whole URL.
        let path = match place.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
            None => place,
        };
        let key = self::text(decoded(path, false), "a path")?;
        let size = text_of(node, "getcontentlength").filter(|size| !size.is_empty());
        let size = size.map(number).transpose()?.unwrap_or(0);
        let tag = text_of(node, "getetag").filter(|tag| !tag.is_empty()).map(str::to_owned);
        entries.push(Entry { key, size, tag });
    }
    Ok(Listing { entries, continuation: None })
}

fn swift(text: &str, max_keys: u32) -> Result<Listing, Failure> {
    let wrong = |what: &str| Failure::Garbage(format!("expected a list in JSON: {what}"));
    if text.trim().is_empty() {
        return Ok(Listing::default());
    }
    let value: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    let all = value.as_array().ok_or_else(|| wrong("it is no array"))?;
    let mut entries = Vec::new();
    let mut last = None;
    for value in all {
        let field = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        last = field("name").or_else(|| field("subdir"));
        let Some(key) = field("name") else { continue };
        let size = value.get("bytes").and_then(Value::as_u64);
        let size = size.ok_or_else(|| wrong("an object without its bytes"))?;
        entries.push(Entry { key, size, tag: field("hash") });
    }
    // The answer does not say whether there are more objects.
    let full = max_keys > 0 && all.len() >= max_keys as usize;
    Ok(Listing { entries, continuation: last.filter(|_| full) })
}

fn utf8<'a>(document: &'a [u8], what: &str) -> Result<&'a str, Failure> {
    std::str::from_utf8(document)
        .map_err(|_| Failure::Garbage(format!("expected {what}, as UTF-8")))
}

fn text(bytes: Vec<u8>, what: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| Failure::Garbage(format!("expected {what}, as UTF-8")))
}

fn parse<'a>(text: &'a str, what: &str) -> Result<Document<'a>, Failure> {
    let document = Document::parse(text.trim_start());
    document.map_err(|error| {
        Failure::Garbage(format!("expected {what}: {}", shortened(&error.to_string())))
    })
}

fn number(text: &str) -> Result<u64, Failure> {
    let text = text.trim();
    text.parse().map_err(|_| {
        Failure::Garbage(format!("expected a size in bytes, not '{}'", shortened(text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(key: &str, size: u64, tag: Option<&str>) -> Entry {
        Entry { key: key.into(), size, tag: tag.map(Into::into) }
    }

    fn read(protocol: Protocol, text: &str) -> Listing {
        Listing::read(protocol, text.as_bytes(), 2).unwrap()
    }

    fn garbage(protocol: Protocol, text: &str) -> String {
        match Listing::read(protocol, text.as_bytes(), 2) {
            Err(Failure::Garbage(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn s3_lists_are_read() {
        let text = |inner: &str| {
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult \
                 xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>{inner}\
                 <Contents><Key>a%20b+c%2B%C3%BC</Key><Size>5</Size>\
                 <ETag>&quot;e&quot;</ETag><Owner><ID>x</ID></Owner></Contents>\
                 <CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>\
                 <Contents><Key>z</Key><Size>0</Size></Contents></ListBucketResult>"
            )
        };
        let listing = read(
            Protocol::S3,
            &text(
                "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>\
                 <NextContinuationToken>1/+=</NextContinuationToken>",
            ),
        );
        let expected = [entry("a b c+ü", 5, Some("\"e\"")), entry("z", 0, None)];
        assert_eq!(listing.entries, expected);
        assert_eq!(listing.continuation.as_deref(), Some("1/+="));

        let plain = read(Protocol::S3, &text("<IsTruncated>false</IsTruncated>"));
        assert_eq!(plain.entries[0].key, "a%20b+c%2B%C3%BC");
        assert_eq!(plain.continuation, None);
        let old = garbage(Protocol::S3, &text("<IsTruncated>true</IsTruncated>"));
        assert!(old.contains("NextContinuationToken"), "{old}");
    }

    #[test]
    fn webdav_lists_are_read() {
        let text = "<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/d/</D:href><D:propstat>\
            <D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:propstat>\
            </D:response><D:response><D:href>http://h:1/d/a%20b+c</D:href><D:propstat><D:prop>\
            <D:getcontentlength>7</D:getcontentlength><D:getetag>\"x\"</D:getetag>\
            <D:resourcetype/></D:prop></D:propstat></D:response></D:multistatus>";
        let expected = vec![entry("/d/a b+c", 7, Some("\"x\""))];
        let listing = read(Protocol::WebDav, text);
        assert_eq!(listing, Listing { entries: expected, continuation: None });
    }

    #[test]
    fn swift_lists_continue_while_pages_are_full() {
        let full = "[{\"name\":\"a\",\"bytes\":1,\"hash\":\"h\"},{\"subdir\":\"p/\"}]";
        let listing = read(Protocol::Swift, full);
        assert_eq!(listing.entries, [entry("a", 1, Some("h"))]);
        assert_eq!(listing.continuation.as_deref(), Some("p/"));
        let last = read(Protocol::Swift, "[{\"name\":\"a\",\"bytes\":1}]");
        assert_eq!(last.continuation, None);
        assert_eq!(read(Protocol::Swift, ""), Listing::default());
    }

    #[test]
    fn an_answer_that_is_no_list_is_reported() {
        assert!(garbage(Protocol::S3, "<html/>").contains("it is a 'html'"));
        assert!(garbage(Protocol::S3, "nothing").contains("expected a ListBucketResult"));
        let size = "<ListBucketResult><Contents><Size>-1</Size></Contents></ListBucketResult>";
        assert!(garbage(Protocol::S3, size).contains("not '-1'"));
        assert!(garbage(Protocol::WebDav, "<html/>").contains("expected a multistatus"));
        assert!(garbage(Protocol::Swift, "{}").contains("no array"));
        assert!(garbage(Protocol::Swift, "[{\"name\":\"a\"}]").contains("without its bytes"));
        let key = "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%ff</Key>\
                   <Size>1</Size></Contents></ListBucketResult>";
        assert!(garbage(Protocol::S3, key).contains("a key, as UTF-8"));
    }

    #[test]
    fn uploads_have_names() {
        let text = "<InitiateMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
                    <Bucket>b</Bucket><UploadId>a&amp;b</UploadId></InitiateMultipartUploadResult>";
        assert_eq!(upload(text.as_bytes()).unwrap(), "a&b");
        for wrong in ["", "<a/>", "<a><UploadId/></a>"] {
            assert!(matches!(upload(wrong.as_bytes()), Err(Failure::Garbage(_))), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_document_is_taken(text in "(<[a-zA-Z]{1,9}>|</[a-z]{1,9}>|[\\[{\":,&;%]|\\PC)*") {
            for protocol in [Protocol::S3, Protocol::WebDav, Protocol::Swift] {
                let _ = Listing::read(protocol, text.as_bytes(), 1);
            }
            let _ = upload(text.as_bytes());
        }
    }
}
