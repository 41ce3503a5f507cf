//! Requests to a store.

/// The kinds of requests that statistics distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Sends the content of an object.
    Put,
    /// Fetches the content of an object, or a range of it.
    Get,
    /// Gets the attributes of an object.
    Head,
    /// Removes an object.
    Delete,
    /// Lists the keys of a bucket.
    List,
    /// Begins a multipart upload.
    BeginUpload,
    /// Sends a part.
    PutPart,
    /// Joins the parts to an object.
    EndUpload,
    /// Aborts a multipart upload.
    DropUpload,
    /// Creates a bucket.
    MakeBucket,
    /// Checks whether a bucket exists.
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

    /// Its name in reports, that of the operation in S3's API: "PUT", "GET", "HEAD", "DELETE",
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

/// A request and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the slot's content as the object.
    Put,
    /// Fetch the object, or a range of it.
    Get {
        /// First byte and number of bytes.
        range: Option<(u64, u64)>,
    },
    /// Get its attributes.
    Head,
    /// Remove it. A missing object is an error if the server reports one.
    Delete,
    /// List keys below the path, which is "/bucket/prefix".
    List {
        /// Most keys in one answer.
        max_keys: u32,
        /// The continuation token of an earlier answer.
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
        /// Offset of the part in the slot's content, in bytes.
        from: u64,
    },
    /// Join the parts to an object.
    EndUpload {
        /// The upload.
        upload: String,
        /// Entity tags of parts 1, 2, …
        tags: Vec<String>,
    },
    /// Abort an upload.
    DropUpload {
        /// The upload.
        upload: String,
    },
    /// Create the bucket.
    MakeBucket,
    /// Check whether the bucket exists.
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
    /// The action.
    pub action: Action,
    /// The path: "/bucket/key" for S3, the whole path for WebDAV and Swift; UTF-8, not yet encoded.
    /// Everything after the bucket's slash is the key, including `//` and leading slashes.
    pub path: &'a str,
    /// Bytes to send, or the expected bytes of a GET; any other number is an error.
    pub length: u64,
}
