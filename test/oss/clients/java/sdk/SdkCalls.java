import com.aliyun.oss.ClientBuilderConfiguration;
import com.aliyun.oss.HttpMethod;
import com.aliyun.oss.OSS;
import com.aliyun.oss.OSSClientBuilder;
import com.aliyun.oss.OSSException;
import com.aliyun.oss.common.auth.DefaultCredentialProvider;
import com.aliyun.oss.common.comm.SignVersion;
import com.aliyun.oss.model.AbortMultipartUploadRequest;
import com.aliyun.oss.model.BucketVersioningConfiguration;
import com.aliyun.oss.model.CompleteMultipartUploadRequest;
import com.aliyun.oss.model.DeleteObjectsRequest;
import com.aliyun.oss.model.GeneratePresignedUrlRequest;
import com.aliyun.oss.model.GetObjectRequest;
import com.aliyun.oss.model.InitiateMultipartUploadRequest;
import com.aliyun.oss.model.ListMultipartUploadsRequest;
import com.aliyun.oss.model.ListObjectsRequest;
import com.aliyun.oss.model.ListObjectsV2Request;
import com.aliyun.oss.model.ListObjectsV2Result;
import com.aliyun.oss.model.ListPartsRequest;
import com.aliyun.oss.model.MultipartUpload;
import com.aliyun.oss.model.MultipartUploadListing;
import com.aliyun.oss.model.OSSObject;
import com.aliyun.oss.model.OSSObjectSummary;
import com.aliyun.oss.model.ObjectListing;
import com.aliyun.oss.model.ObjectMetadata;
import com.aliyun.oss.model.PartETag;
import com.aliyun.oss.model.PartListing;
import com.aliyun.oss.model.PutObjectRequest;
import com.aliyun.oss.model.SetBucketVersioningRequest;
import com.aliyun.oss.model.UploadPartCopyRequest;
import com.aliyun.oss.model.UploadPartRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;

/** Calls of aliyun-sdk-oss, which compares the CRC-64 of what it sends and gets. */
public final class SdkCalls {
  private static final int MIN_PART = 100 * 1024;
  private static final String BUCKET = Script.env("BUCKET");
  private static final String SIGNATURE = Script.env("SIGNATURE");
  private static final String PREFIX = "java-" + SIGNATURE + "/";

  private static OSS client;

  private SdkCalls() {}

  private static OSS clientWith(String id, String secret, String token) {
    ClientBuilderConfiguration configuration = new ClientBuilderConfiguration();
    configuration.setMaxErrorRetry(0);
    configuration.setSignatureVersion("v4".equals(SIGNATURE) ? SignVersion.V4 : SignVersion.V1);
    return OSSClientBuilder.create()
        .endpoint(Script.env("ENDPOINT"))
        .region(Script.env("REGION"))
        .credentialsProvider(new DefaultCredentialProvider(id, secret, token))
        .clientConfiguration(configuration)
        .build();
  }

  public static void main(String[] args) {
    client = clientWith(Script.env("ACCESS_KEY_ID"), Script.env("ACCESS_KEY_SECRET"), null);
    objects();
    listings();
    multipart();
    urlsAndCredentials();
    buckets();
    client.shutdown();
    Script.finish();
  }

  private static OSSException refused(String code, Script.Action action) throws Exception {
    try {
      action.run();
    } catch (OSSException error) {
      Script.equal(error.getErrorCode(), code);
      return error;
    }
    throw new AssertionError("no " + code);
  }

  private static PutObjectRequest put(String key, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return new PutObjectRequest(BUCKET, PREFIX + key, new ByteArrayInputStream(bytes), new ObjectMetadata());
  }

  private static String get(OSS by, String key) throws IOException {
    try (OSSObject object = by.getObject(BUCKET, PREFIX + key)) {
      return new String(object.getObjectContent().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static void objects() {
    Script.call("put, get, head with metadata", () -> {
      PutObjectRequest request = put("a", "hello".repeat(1000));
      request.getMetadata().addUserMetadata("commitbridge-id", "0123");
      request.getMetadata().setContentType("text/csv");
      client.putObject(request);
      ObjectMetadata head = client.getObjectMetadata(BUCKET, PREFIX + "a");
      Script.equal(head.getUserMetadata().get("commitbridge-id"), "0123");
      Script.equal(head.getContentLength(), 5000L);
      Script.equal(head.getContentType(), "text/csv");
      Script.equal(get(client, "a"), "hello".repeat(1000));
      Script.equal(client.getSimplifiedObjectMeta(BUCKET, PREFIX + "a").getSize(), 5000L);
    });
    Script.call("a key of odd characters", () -> {
      String odd = "odd/a b+c&d=é%2F..//~!'()*/中文 🙂.txt";
      client.putObject(put(odd, "odd"));
      Script.equal(get(client, odd), "odd");
    });
    Script.call("ranges", () -> {
      GetObjectRequest request = new GetObjectRequest(BUCKET, PREFIX + "a");
      request.setRange(1, 3);
      try (OSSObject object = client.getObject(request)) {
        Script.equal(new String(object.getObjectContent().readAllBytes(), StandardCharsets.UTF_8), "ell");
      }
    });
    Script.call("absent objects", () -> {
      refused("NoSuchKey", () -> get(client, "none"));
      refused("NoSuchKey", () -> client.getObjectMetadata(BUCKET, PREFIX + "none"));
      Script.equal(client.doesObjectExist(BUCKET, PREFIX + "none"), false);
      client.deleteObject(BUCKET, PREFIX + "none");
    });
    Script.call("forbid overwrite", () -> {
      for (int i = 0; i < 2; i++) {
        PutObjectRequest request = put("once", String.valueOf(i));
        request.getMetadata().setHeader("x-oss-forbid-overwrite", "true");
        if (i == 0) {
          client.putObject(request);
        } else {
          Script.equal(refused("FileAlreadyExists", () -> client.putObject(request)).getEC(), "0042-00000214");
        }
      }
      Script.equal(get(client, "once"), "0");
    });
    Script.call("wrong Content-MD5", () -> {
      PutObjectRequest request = put("md5", "x");
      request.getMetadata().setContentMD5("ICy5YqxZB1uWSwcVLSNLcA==");
      refused("InvalidDigest", () -> client.putObject(request));
    });
    Script.call("copy", () -> {
      client.copyObject(BUCKET, PREFIX + "a", BUCKET, PREFIX + "copy é");
      Script.equal(get(client, "copy é"), "hello".repeat(1000));
    });
    Script.call("deleting many", () -> {
      List<String> keys = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        client.putObject(put("many/" + i + " é&", "1"));
        keys.add(PREFIX + "many/" + i + " é&");
      }
      DeleteObjectsRequest request = new DeleteObjectsRequest(BUCKET).withKeys(keys).withEncodingType("url");
      Script.equal(client.deleteObjects(request).getDeletedObjects(), keys);
      request.setQuiet(true);
      client.deleteObjects(request);
    });
  }

  private static void listings() {
    List<String> keys = new ArrayList<>();
    Script.call("listing v1 by pages", () -> {
      for (int i = 0; i < 25; i++) {
        String key = String.format("list/%03d/x y", i);
        client.putObject(put(key, "1"));
        keys.add(PREFIX + key);
      }
      List<String> listed = new ArrayList<>();
      ListObjectsRequest request = new ListObjectsRequest(BUCKET).withPrefix(PREFIX + "list/").withMaxKeys(7);
      ObjectListing page;
      do {
        page = client.listObjects(request);
        page.getObjectSummaries().forEach(object -> listed.add(object.getKey()));
        request.setMarker(page.getNextMarker());
      } while (page.isTruncated());
      Script.equal(listed, keys);
    });
    Script.call("listing v2 by pages", () -> {
      List<String> listed = new ArrayList<>();
      ListObjectsV2Request request =
          new ListObjectsV2Request(BUCKET).withPrefix(PREFIX + "list/").withMaxKeys(7).withEncodingType("url");
      ListObjectsV2Result page;
      do {
        page = client.listObjectsV2(request);
        for (OSSObjectSummary object : page.getObjectSummaries()) {
          listed.add(URLDecoder.decode(object.getKey(), StandardCharsets.UTF_8)); // the SDK leaves it to its users
        }
        request.setContinuationToken(page.getNextContinuationToken());
      } while (page.isTruncated());
      Script.equal(listed, keys);
      ListObjectsV2Request folded = new ListObjectsV2Request(BUCKET).withPrefix(PREFIX + "list/").withDelimiter("/");
      Script.equal(client.listObjectsV2(folded).getCommonPrefixes().size(), 25);
    });
    Script.call("uploads by pages", () -> {
      List<String> wanted = new ArrayList<>();
      for (String key : Arrays.asList("up/a", "up/a", "up/b c", "up/d/e")) {
        wanted.add(PREFIX + key + "\n" + initiate(key));
      }
      wanted.sort(null);
      List<String> listed = new ArrayList<>();
      ListMultipartUploadsRequest request = new ListMultipartUploadsRequest(BUCKET);
      request.setPrefix(PREFIX + "up/");
      request.setMaxUploads(1);
      MultipartUploadListing page;
      do {
        page = client.listMultipartUploads(request);
        for (MultipartUpload upload : page.getMultipartUploads()) {
          listed.add(upload.getKey() + "\n" + upload.getUploadId());
        }
        request.setKeyMarker(page.getNextKeyMarker());
        request.setUploadIdMarker(page.getNextUploadIdMarker());
      } while (page.isTruncated());
      Script.equal(listed, wanted);
    });
  }

  private static String initiate(String key) {
    return client.initiateMultipartUpload(new InitiateMultipartUploadRequest(BUCKET, PREFIX + key)).getUploadId();
  }

  private static PartETag part(String key, String uploadId, int number, int size) {
    ByteArrayInputStream body = new ByteArrayInputStream(new byte[size]);
    return client
        .uploadPart(new UploadPartRequest(BUCKET, PREFIX + key, uploadId, number, body, size))
        .getPartETag();
  }

  private static CompleteMultipartUploadRequest completion(String key, String uploadId, PartETag... parts) {
    return new CompleteMultipartUploadRequest(BUCKET, PREFIX + key, uploadId, new ArrayList<>(Arrays.asList(parts)));
  }

  private static AbortMultipartUploadRequest abortion(String key, String uploadId) {
    return new AbortMultipartUploadRequest(BUCKET, PREFIX + key, uploadId);
  }

  private static void multipart() {
    Script.call("multipart upload", () -> {
      String uploadId = initiate("multi");
      PartETag first = part("multi", uploadId, 1, MIN_PART);
      PartETag last = part("multi", uploadId, 9, 1);
      ListPartsRequest request = new ListPartsRequest(BUCKET, PREFIX + "multi", uploadId);
      request.setMaxParts(1);
      PartListing page = client.listParts(request);
      Script.equal(page.isTruncated(), true);
      Script.equal(page.getNextPartNumberMarker(), 1);
      client.completeMultipartUpload(completion("multi", uploadId, first, last));
      Script.equal(client.getObjectMetadata(BUCKET, PREFIX + "multi").getContentLength(), MIN_PART + 1L);
      refused("NoSuchUpload", () -> client.completeMultipartUpload(completion("multi", uploadId, first, last)));
      refused("NoSuchUpload", () -> client.abortMultipartUpload(abortion("multi", uploadId)));
      refused("NoSuchUpload", () -> part("multi", uploadId, 1, 1));
    });
    Script.call("rules of complete", () -> {
      String uploadId = initiate("rules");
      PartETag one = part("rules", uploadId, 1, 10);
      PartETag two = part("rules", uploadId, 2, 10);
      OSSException small =
          refused("EntityTooSmall", () -> client.completeMultipartUpload(completion("rules", uploadId, one, two)));
      Script.equal(small.getEC(), "0042-00000213");
      PartETag absent = new PartETag(3, "x");
      refused("InvalidPart", () -> client.completeMultipartUpload(completion("rules", uploadId, absent)));
      client.abortMultipartUpload(abortion("rules", uploadId));
      refused("NoSuchUpload", () -> client.completeMultipartUpload(completion("rules", uploadId, two)));
    });
    Script.call("complete that forbids overwrite", () -> {
      String uploadId = initiate("once");
      CompleteMultipartUploadRequest request = completion("once", uploadId, part("once", uploadId, 1, 10));
      request.addHeader("x-oss-forbid-overwrite", "true");
      refused("FileAlreadyExists", () -> client.completeMultipartUpload(request));
      client.abortMultipartUpload(abortion("once", uploadId));
    });
    Script.call("upload part copy", () -> {
      String uploadId = initiate("part-copy");
      UploadPartCopyRequest request =
          new UploadPartCopyRequest(BUCKET, PREFIX + "a", BUCKET, PREFIX + "part-copy", uploadId, 1, 0L, 5L);
      PartETag copied = client.uploadPartCopy(request).getPartETag();
      client.completeMultipartUpload(completion("part-copy", uploadId, copied));
      Script.equal(get(client, "part-copy"), "hello");
    });
  }

  private static int send(String method, URL url, String body) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) url.openConnection();
    connection.setRequestMethod(method);
    if (body != null) {
      connection.setDoOutput(true);
      connection.setRequestProperty("Content-Type", "text/plain");
      connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
    }
    return connection.getResponseCode();
  }

  private static URL signed(String key, HttpMethod method, long lifetimeMs) {
    GeneratePresignedUrlRequest request = new GeneratePresignedUrlRequest(BUCKET, PREFIX + key, method);
    request.setExpiration(new Date(System.currentTimeMillis() + lifetimeMs));
    if (method == HttpMethod.PUT) {
      request.setContentType("text/plain");
    }
    return client.generatePresignedUrl(request);
  }

  private static void urlsAndCredentials() {
    Script.call("signed URLs", () -> {
      Script.equal(send("PUT", signed("signed é", HttpMethod.PUT, 60_000), "signed"), 200);
      Script.equal(get(client, "signed é"), "signed");
      URL url = signed("signed é", HttpMethod.GET, 60_000);
      Script.equal(send("GET", url, null), 200);
      Script.equal(send("GET", new URL(url.toString().replace("signed", "other")), null), 403);
    });
    Script.call("temporary credentials", () -> {
      OSS temporary =
          clientWith(Script.env("STS_ACCESS_KEY_ID"), Script.env("STS_ACCESS_KEY_SECRET"), Script.env("STS_TOKEN"));
      Script.equal(get(temporary, "part-copy"), "hello");
      OSS wrong = clientWith(Script.env("STS_ACCESS_KEY_ID"), Script.env("STS_ACCESS_KEY_SECRET"), "other");
      refused("InvalidSecurityToken", () -> get(wrong, "a"));
    });
    Script.call("wrong credentials", () -> {
      refused("SignatureDoesNotMatch", () -> get(clientWith(Script.env("ACCESS_KEY_ID"), "wrong", null), "a"));
      refused("InvalidAccessKeyId", () -> get(clientWith("nobody", "x", null), "a"));
    });
  }

  private static void buckets() {
    Script.call("a bucket with versions", () -> {
      String name = BUCKET + "-java-" + SIGNATURE;
      client.createBucket(name);
      Script.equal(client.doesBucketExist(name), true);
      Script.equal(client.getBucketInfo(name).getBucket().getName(), name);
      Script.equal(client.getBucketVersioning(name).getStatus(), null);
      BucketVersioningConfiguration enabled = new BucketVersioningConfiguration();
      enabled.setStatus(BucketVersioningConfiguration.ENABLED);
      client.setBucketVersioning(new SetBucketVersioningRequest(name, enabled));
      Script.equal(client.getBucketVersioning(name).getStatus(), BucketVersioningConfiguration.ENABLED);
      String version = client.putObject(name, "v", new ByteArrayInputStream(new byte[1])).getVersionId();
      client.deleteObject(name, "v");
      Script.equal(client.doesObjectExist(name, "v"), false);
      Script.equal(client.listVersions(name, "").getVersionSummaries().size(), 2);
      client.deleteVersion(name, "v", version);
      String marker = client.listVersions(name, "").getVersionSummaries().get(0).getVersionId();
      client.deleteVersion(name, "v", marker);
      client.deleteBucket(name);
    });
  }
}
