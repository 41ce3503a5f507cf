//! What is asked of a store.

/// The kinds of requests, as statistics tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// An object's content is sent.
    Put,
    /// An object's content, or a part of it, is fetched.
    Get,
    /// An object's attributes are asked for.
    Head,
    /// An object is removed.
    Delete,
    /// The keys of a bucket are asked for.
    List,
    /// A multipart upload is begun.
    BeginUpload,
    /// A part is sent.
    PutPart,
    /// The parts become an object.
    EndUpload,
    /// A multipart upload is given up.
    DropUpload,
    /// A bucket is made.
    MakeBucket,
    /// It is asked whether a bucket is there.
    HeadBucket,
}

impl Verb {
    /// Every kind, in the order of the enum.
    pub const ALL: [Verb; 11] = [
        Verb::Put,
        Verb::Get,
        Verb::Head,
        Verb::Delete,
        Verb::List,
        Verb::BeginUpload,
        Verb::PutPart,
        Verb::EndUpload,
        Verb::DropUpload,
        Verb::MakeBucket,
        Verb::HeadBucket,
    ];

    /// How reports name it, after the operation of S3's API: "PUT", "GET", "HEAD", "DELETE",
    /// "LIST", "CreateMultipartUpload", …
    pub fn name(self) -> &'static str {
        match self {
            Verb::Put => "PUT",
            Verb::Get => "GET",
            Verb::Head => "HEAD",
            Verb::Delete => "DELETE",
            Verb::List => "LIST",
            Verb::BeginUpload => "CreateMultipartUpload",
            Verb::PutPart => "UploadPart",
            Verb::EndUpload => "CompleteMultipartUpload",
            Verb::DropUpload => "AbortMultipartUpload",
            Verb::MakeBucket => "CreateBucket",
            Verb::HeadBucket => "HeadBucket",
        }
    }
}

/// A request with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the slot's content as the object.
    Put,
    /// Fetch the object; with a range only its bytes from the first on, so many.
    Get {
        /// First byte and number of bytes.
        range: Option<(u64, u64)>,
    },
    /// Ask for its attributes.
    Head,
    /// Remove it. That it is not there is an error, where the server says so.
    Delete,
    /// Keys below the path, which is "/bucket/prefix".
    List {
        /// Most keys of one answer.
        max_keys: u32,
        /// Where an earlier answer left off.
        continuation: Option<String>,
    },
    /// Begin a multipart upload.
    BeginUpload,
    /// Send part of the slot's content.
    PutPart {
        /// The upload.
        upload: String,
        /// Number of the part, from 1.
        number: u32,
        /// Where in the slot's content it begins, in bytes.
        from: u64,
    },
    /// Make an object of the parts.
    EndUpload {
        /// The upload.
        upload: String,
        /// Entity tags of parts 1, 2, …
        tags: Vec<String>,
    },
    /// Give an upload up.
    DropUpload {
        /// The upload.
        upload: String,
    },
    /// Make the bucket.
    MakeBucket,
    /// Ask whether the bucket is there.
    HeadBucket,
}

impl Action {
    /// Its kind.
    pub fn verb(&self) -> Verb {
        match self {
            Action::Put => Verb::Put,
            Action::Get { .. } => Verb::Get,
            Action::Head => Verb::Head,
            Action::Delete => Verb::Delete,
            Action::List { .. } => Verb::List,
            Action::BeginUpload => Verb::BeginUpload,
            Action::PutPart { .. } => Verb::PutPart,
            Action::EndUpload { .. } => Verb::EndUpload,
            Action::DropUpload { .. } => Verb::DropUpload,
            Action::MakeBucket => Verb::MakeBucket,
            Action::HeadBucket => Verb::HeadBucket,
        }
    }
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// What to do.
    pub action: Action,
    /// To what: "/bucket/key" for S3, the whole path for WebDAV and Swift; UTF-8, not yet encoded.
    /// Everything after the bucket's slash is the key as it is, also `//` and leading slashes.
    pub path: &'a str,
    /// Bytes to send, or those a GET is to bring: fewer or more are an error.
    pub length: u64,
}
