//! The data of the S3 server in memory: objects, and uploads until they are complete.

use md5::{Digest, Md5};
use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, CompleteMultipartUploadInput,
    CompleteMultipartUploadOutput, CreateBucketInput, CreateBucketOutput,
    CreateMultipartUploadInput, CreateMultipartUploadOutput, DeleteObjectInput, DeleteObjectOutput,
    GetObjectInput, GetObjectOutput, HeadBucketInput, HeadBucketOutput, HeadObjectInput,
    HeadObjectOutput, ListObjectsV2Input, ListObjectsV2Output, Object, PutObjectInput,
    PutObjectOutput, StreamingBlob, UploadPartInput, UploadPartOutput,
};
use s3s::{Body, S3, S3Request, S3Response, S3Result, s3_error};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_stream::StreamExt;

/// One object.
#[derive(Clone, Default)]
struct StoredObject {
    content: Vec<u8>,
    tag: String,
    storage_class: Option<String>,
    /// MD5 of the customer's key, which is required to read the object.
    customer_key: Option<String>,
}

/// A multipart upload: its future object, and its parts by number.
struct Upload {
    place: (String, String),
    storage_class: Option<String>,
    parts: BTreeMap<i32, StoredObject>,
}

#[derive(Default)]
struct Content {
    buckets: BTreeMap<String, BTreeMap<String, StoredObject>>,
    uploads: BTreeMap<String, Upload>,
    begun: u64,
}

/// Buckets and their objects, shared by all clones of this value. They outlive the server.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Content>>);

impl Memory {
    /// Empty buckets with these names.
    pub fn with(buckets: &[&str]) -> Memory {
        let memory = Memory::default();
        let made = buckets.iter().map(|name| ((*name).to_owned(), BTreeMap::new()));
        memory.lock().buckets.extend(made);
        memory
    }

    /// Keys of a bucket in order, each with the size of its object in bytes.
    pub fn keys(&self, bucket: &str) -> Vec<(String, usize)> {
        let content = self.lock();
        let objects = content.buckets.get(bucket).into_iter().flatten();
        objects.map(|(key, kept)| (key.clone(), kept.content.len())).collect()
    }

    /// The content of an object; `None` if it does not exist.
    pub fn object(&self, bucket: &str, key: &str) -> Option<Vec<u8>> {
        Some(self.lock().buckets.get(bucket)?.get(key)?.content.clone())
    }

    /// The storage class that an object was put with.
    pub fn storage_class(&self, bucket: &str, key: &str) -> Option<String> {
        self.lock().buckets.get(bucket)?.get(key)?.storage_class.clone()
    }

    /// Stores an object without a server.
    ///
    /// # Panics
    /// When there is no such bucket.
    #[track_caller]
    pub fn put(&self, bucket: &str, key: &str, content: Vec<u8>) {
        let tag = tag_of(&content);
        let kept = StoredObject { content, tag, ..StoredObject::default() };
        self.lock().buckets.get_mut(bucket).expect("a bucket").insert(key.to_owned(), kept);
    }

    /// Changes the content of an object without a server.
    ///
    /// # Panics
    /// When there is no such object.
    #[track_caller]
    pub fn change(&self, bucket: &str, key: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut content = self.lock();
        let object = content.buckets.get_mut(bucket).and_then(|objects| objects.get_mut(key));
        change(&mut object.expect("an object").content);
    }

    /// Number of multipart uploads that are neither completed nor aborted.
    pub fn open_uploads(&self) -> usize {
        self.lock().uploads.len()
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object, if the request has the customer's key it was stored with.
    fn find(
        &self,
        bucket: &str,
        key: &str,
        customer_key: Option<&String>,
    ) -> S3Result<StoredObject> {
        let content = self.lock();
        let objects = content.buckets.get(bucket).ok_or_else(|| s3_error!(NoSuchBucket))?;
        let kept = objects.get(key).ok_or_else(|| s3_error!(NoSuchKey))?;
        if kept.customer_key.as_ref() != customer_key {
            return Err(s3_error!(
                InvalidRequest,
                "The object was stored using a form of Server Side Encryption."
            ));
        }
        Ok(kept.clone())
    }

    fn keep(&self, bucket: &str, key: String, kept: StoredObject) -> S3Result<()> {
        let mut content = self.lock();
        let objects = content.buckets.get_mut(bucket).ok_or_else(|| s3_error!(NoSuchBucket))?;
        objects.insert(key, kept);
        Ok(())
    }
}

/// The entity tag, quotes included.
fn tag_of(content: &[u8]) -> String {
    let hex: String = Md5::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

/// The whole body. Fewer bytes than announced are an error.
async fn received(body: Option<StreamingBlob>) -> S3Result<Vec<u8>> {
    let mut content = Vec::new();
    let Some(mut body) = body else { return Ok(content) };
    while let Some(some) = body.next().await {
        content.extend_from_slice(&some.map_err(|_| s3_error!(IncompleteBody))?);
    }
    Ok(content)
}

#[async_trait::async_trait]
impl S3 for Memory {
    async fn create_bucket(
        &self,
        req: S3Request<CreateBucketInput>,
    ) -> S3Result<S3Response<CreateBucketOutput>> {
        let mut content = self.lock();
        if content.buckets.contains_key(&req.input.bucket) {
            return Err(s3_error!(BucketAlreadyOwnedByYou));
        }
        content.buckets.insert(req.input.bucket, BTreeMap::new());
        Ok(S3Response::new(CreateBucketOutput::default()))
    }

    async fn head_bucket(
        &self,
        req: S3Request<HeadBucketInput>,
    ) -> S3Result<S3Response<HeadBucketOutput>> {
        match self.lock().buckets.contains_key(&req.input.bucket) {
            true => Ok(S3Response::new(HeadBucketOutput::default())),
            false => Err(s3_error!(NoSuchBucket)),
        }
    }

    async fn put_object(
        &self,
        req: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let input = req.input;
        let content = received(input.body).await?;
        let tag = tag_of(&content);
        let kept = StoredObject {
            content,
            tag: tag.clone(),
            storage_class: input.storage_class.map(|class| class.as_str().to_owned()),
            customer_key: input.sse_customer_key_md5,
        };
        self.keep(&input.bucket, input.key, kept)?;
        let e_tag = Some(tag);
        Ok(S3Response::new(PutObjectOutput { e_tag, ..PutObjectOutput::default() }))
    }

    async fn get_object(
        &self,
        req: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let input = req.input;
        let kept = self.find(&input.bucket, &input.key, input.sse_customer_key_md5.as_ref())?;
        let length = kept.content.len() as u64;
        let (content, content_range) = match input.range {
            None => (kept.content, None),
            Some(range) => {
                let part = range.check(length)?;
                let range = format!("bytes {}-{}/{length}", part.start, part.end - 1);
                (kept.content[part.start as usize..part.end as usize].to_vec(), Some(range))
            }
        };
        Ok(S3Response::new(GetObjectOutput {
            content_length: Some(content.len() as i64),
            content_range,
            body: Some(StreamingBlob::from(Body::from(content))),
            e_tag: Some(kept.tag),
            ..GetObjectOutput::default()
        }))
    }

    async fn head_object(
        &self,
        req: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let input = req.input;
        let kept = self.find(&input.bucket, &input.key, input.sse_customer_key_md5.as_ref())?;
        Ok(S3Response::new(HeadObjectOutput {
            content_length: Some(kept.content.len() as i64),
            e_tag: Some(kept.tag),
            storage_class: kept.storage_class.map(Into::into),
            ..HeadObjectOutput::default()
        }))
    }

    /// As with Amazon, deleting a missing object is no error.
    async fn delete_object(
        &self,
        req: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        let mut content = self.lock();
        let objects = content.buckets.get_mut(&req.input.bucket);
        objects.ok_or_else(|| s3_error!(NoSuchBucket))?.remove(&req.input.key);
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    async fn list_objects_v2(
        &self,
        req: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let input = req.input;
        let content = self.lock();
        let objects = content.buckets.get(&input.bucket).ok_or_else(|| s3_error!(NoSuchBucket))?;
        let most = input.max_keys.unwrap_or(1000).clamp(0, 1000) as usize;
        let prefix = input.prefix.clone().unwrap_or_default();
        let after = input.continuation_token.clone().or(input.start_after.clone());
        let from = after.as_ref().map_or(Bound::Included(&prefix), Bound::Excluded);
        let mut found = objects
            .range::<String, _>((from, Bound::Unbounded))
            .filter(|(key, _)| key.starts_with(&prefix));
        let contents: Vec<Object> = found
            .by_ref()
            .take(most)
            .map(|(key, kept)| Object {
                key: Some(key.clone()),
                size: Some(kept.content.len() as i64),
                e_tag: Some(kept.tag.clone()),
                ..Object::default()
            })
            .collect();
        let truncated = found.next().is_some();
        let last = contents.last().and_then(|object| object.key.clone());
        Ok(S3Response::new(ListObjectsV2Output {
            key_count: Some(contents.len() as i32),
            max_keys: Some(most as i32),
            is_truncated: Some(truncated),
            next_continuation_token: if truncated { last } else { None },
            continuation_token: input.continuation_token,
            contents: Some(contents),
            name: Some(input.bucket),
            prefix: Some(prefix),
            ..ListObjectsV2Output::default()
        }))
    }

    async fn create_multipart_upload(
        &self,
        req: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        let input = req.input;
        let mut content = self.lock();
        if !content.buckets.contains_key(&input.bucket) {
            return Err(s3_error!(NoSuchBucket));
        }
        content.begun += 1;
        // Some servers use such characters in the names of uploads.
        let name = format!("upload+{}/{}==", content.begun, input.key.len());
        let upload = Upload {
            place: (input.bucket.clone(), input.key.clone()),
            storage_class: input.storage_class.map(|class| class.as_str().to_owned()),
            parts: BTreeMap::new(),
        };
        content.uploads.insert(name.clone(), upload);
        Ok(S3Response::new(CreateMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(name),
            ..CreateMultipartUploadOutput::default()
        }))
    }

    async fn upload_part(
        &self,
        req: S3Request<UploadPartInput>,
    ) -> S3Result<S3Response<UploadPartOutput>> {
        let input = req.input;
        let part = received(input.body).await?;
        let tag = tag_of(&part);
        let mut content = self.lock();
        let upload = content.uploads.get_mut(&input.upload_id);
        let kept = StoredObject { content: part, tag: tag.clone(), ..StoredObject::default() };
        upload.ok_or_else(|| s3_error!(NoSuchUpload))?.parts.insert(input.part_number, kept);
        let e_tag = Some(tag);
        Ok(S3Response::new(UploadPartOutput { e_tag, ..UploadPartOutput::default() }))
    }

    async fn complete_multipart_upload(
        &self,
        req: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let input = req.input;
        let named = input.multipart_upload.and_then(|named| named.parts).unwrap_or_default();
        let mut content = self.lock();
        let upload = content.uploads.get(&input.upload_id);
        let upload = upload.ok_or_else(|| s3_error!(NoSuchUpload))?;
        let mut whole = Vec::new();
        for (index, named) in named.iter().enumerate() {
            let part = named.part_number.and_then(|number| upload.parts.get(&number));
            let part = part.filter(|part| {
                named.e_tag.as_ref() == Some(&part.tag)
                    && named.part_number == Some(index as i32 + 1)
            });
            whole.extend_from_slice(&part.ok_or_else(|| s3_error!(InvalidPart))?.content);
        }
        if named.is_empty() {
            return Err(s3_error!(InvalidPart, "an upload has one part at least"));
        }
        let tag = format!("\"{}-{}\"", tag_of(&whole).trim_matches('"'), named.len());
        let kept = StoredObject {
            content: whole,
            tag: tag.clone(),
            storage_class: upload.storage_class.clone(),
            customer_key: None,
        };
        let (bucket, key) = upload.place.clone();
        content.uploads.remove(&input.upload_id);
        let objects = content.buckets.get_mut(&bucket).ok_or_else(|| s3_error!(NoSuchBucket))?;
        objects.insert(key.clone(), kept);
        Ok(S3Response::new(CompleteMultipartUploadOutput {
            bucket: Some(bucket),
            key: Some(key),
            e_tag: Some(tag),
            ..CompleteMultipartUploadOutput::default()
        }))
    }

    async fn abort_multipart_upload(
        &self,
        req: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        let upload = self.lock().uploads.remove(&req.input.upload_id);
        upload.ok_or_else(|| s3_error!(NoSuchUpload))?;
        Ok(S3Response::new(AbortMultipartUploadOutput::default()))
    }
}
