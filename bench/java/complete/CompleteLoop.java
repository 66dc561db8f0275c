import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CompletedPart;

/**
 * A loop over the AWS SDK for Java 2 that does nothing but complete uploads: bucket, key and upload id come on stdin, a
 * line each, with tabs between. The first of them load and compile the classes and aren't measured.
 *
 * <p>The asynchronous client over Netty, with as many connections as requests at a time: it took half the CPU time of the
 * one over Apache's HTTP client with as many threads.
 */
public final class CompleteLoop {
  private final S3AsyncClient client;
  private final int concurrency;

  private CompleteLoop(String endpoint, int concurrency) {
    this.concurrency = concurrency;
    client = S3AsyncClient.builder()
        .endpointOverride(URI.create(endpoint))
        .region(Region.US_EAST_1)
        .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("bench", "bench-secret")))
        .forcePathStyle(true)
        .overrideConfiguration(c -> c.retryStrategy(DefaultRetryStrategy.doNotRetry()))
        .httpClientBuilder(NettyNioAsyncHttpClient.builder().maxConcurrency(concurrency))
        .build();
  }

  public static void main(String[] args) throws Exception {
    CompleteLoop loop = new CompleteLoop(args[0], Integer.parseInt(args[1]));
    int warmUp = Integer.parseInt(args[2]);
    List<String> lines = new String(System.in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    loop.complete(lines.subList(0, warmUp));
    long cpu = cpuNanos();
    long started = System.nanoTime();
    loop.complete(lines.subList(warmUp, lines.size()));
    double seconds = (System.nanoTime() - started) / 1e9;
    System.out.printf(
        Locale.ROOT, "{\"seconds\": %.4f, \"cpu_s\": %.4f}%n", seconds, (cpuNanos() - cpu) / 1e9);
    loop.client.close();
  }

  private void complete(List<String> lines) throws InterruptedException {
    Semaphore free = new Semaphore(concurrency);
    for (String line : lines) {
      free.acquire();
      client.completeMultipartUpload(request(line.split("\t"))).whenComplete((answer, error) -> {
        if (error != null) {
          error.printStackTrace();
          Runtime.getRuntime().halt(1);
        }
        free.release();
      });
    }
    free.acquire(concurrency);
  }

  private static CompleteMultipartUploadRequest request(String[] upload) {
    CompletedPart part = CompletedPart.builder().partNumber(1).eTag("\"e\"").build();
    return CompleteMultipartUploadRequest.builder()
        .bucket(upload[0])
        .key(upload[1])
        .uploadId(upload[2])
        .ifNoneMatch("*")
        .multipartUpload(parts -> parts.parts(part))
        .build();
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
