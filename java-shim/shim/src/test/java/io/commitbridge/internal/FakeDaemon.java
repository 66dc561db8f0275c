package io.commitbridge.internal;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.commitbridge.proto.v1.*;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The three services, which record what they're asked and answer what the test wants. */
final class FakeDaemon implements AutoCloseable {
  /** What a call does before it answers: throws, or waits. */
  interface Hook {
    void run(Message request) throws Exception;
  }

  final List<Message> calls = new CopyOnWriteArrayList<>();
  final List<String> authorizations = new CopyOnWriteArrayList<>();
  private final Map<String, Deque<Hook>> hooks = new ConcurrentHashMap<>();
  private final AtomicInteger uploads = new AtomicInteger();
  private final FakeStore store;
  private Server server;
  private final int port;
  volatile long partBytes = 8 * 1024 * 1024;
  volatile List<DataPlane> planes = Arrays.asList(DataPlane.DATA_PLANE_DIRECT);
  volatile int minVersion = 1;
  volatile int maxVersion = 1;
  volatile long maxMessageBytes = 4 * 1024 * 1024;
  /** As a daemon whose store can't presign. */
  volatile long maxInlineBytes;
  volatile long maxInlineBytesPerAttempt = 1024 * 1024;
  volatile boolean published;
  /** As a daemon of a job with TASK_RECORDS_DRIVER: so many bytes of pendingset a task. */
  volatile int pendingsetBytes;
  volatile long expiresInSeconds = 900;

  FakeDaemon(FakeStore store) throws IOException {
    this.store = store;
    server = start(0);
    port = server.getPort();
  }

  private Server start(int wanted) throws IOException {
    return Grpc.newServerBuilderForPort(wanted, InsecureServerCredentials.create())
        .addService(new Jobs()).addService(new Uploads()).addService(new Admin())
        .intercept(new ServerInterceptor() {
          @Override
          public <Q, R> ServerCall.Listener<Q> interceptCall(
              ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            String value = headers.get(
                Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER));
            authorizations.add(String.valueOf(value));
            return next.startCall(call, headers);
          }
        }).build().start();
  }

  String endpoint() {
    return "127.0.0.1:" + port;
  }

  /** As kill -9: every connection breaks. */
  void kill() throws InterruptedException {
    server.shutdownNow();
    server.awaitTermination(10, TimeUnit.SECONDS);
  }

  void restart() throws IOException {
    server = start(port);
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }

  FakeDaemon onNext(String call, Hook hook) {
    hooks.computeIfAbsent(call, name -> new ConcurrentLinkedDeque<>()).add(hook);
    return this;
  }

  FakeDaemon failNext(String call, Status.Code code, String reason, long retryMs) {
    return onNext(call, request -> {
      throw error(code, reason, retryMs);
    });
  }

  static StatusRuntimeException error(Status.Code code, String reason, long retryMs) {
    com.google.rpc.Status.Builder status = com.google.rpc.Status.newBuilder()
        .setCode(code.value()).setMessage("told so by the test");
    status.addDetails(Any.pack(
        ErrorInfo.newBuilder().setReason(reason).setDomain("commitbridge.io").build()));
    if (retryMs > 0) {
      status.addDetails(Any.pack(RetryInfo.newBuilder().setRetryDelay(Duration.newBuilder()
          .setSeconds(retryMs / 1000).setNanos((int) (retryMs % 1000) * 1_000_000)).build()));
    }
    return StatusProto.toStatusRuntimeException(status.build());
  }

  <T extends Message> List<T> calls(Class<T> type) {
    List<T> found = new ArrayList<>();
    for (Message call : calls) {
      if (type.isInstance(call)) {
        found.add(type.cast(call));
      }
    }
    return found;
  }

  <T extends Message> T only(Class<T> type) {
    List<T> found = calls(type);
    if (found.size() != 1) {
      throw new AssertionError(found.size() + " calls of " + type.getSimpleName());
    }
    return found.get(0);
  }

  private <T> void answer(String name, Message request, StreamObserver<T> out, T response) {
    calls.add(request);
    Deque<Hook> waiting = hooks.get(name);
    Hook hook = waiting == null ? null : waiting.poll();
    try {
      if (hook != null) {
        hook.run(request);
      }
    } catch (Exception e) {
      out.onError(e);
      return;
    }
    out.onNext(response);
    out.onCompleted();
  }

  /** What CommitTask of the attempt returns; unlike any other's. */
  static ByteString pendingset(TaskAttemptRef attempt, int bytes) {
    byte[] pendingset = new byte[bytes];
    byte[] id = attempt.getAttemptId().getBytes(java.nio.charset.StandardCharsets.UTF_8);
    System.arraycopy(id, 0, pendingset, 0, Math.min(bytes, id.length));
    return ByteString.copyFrom(pendingset);
  }

  private SignedPart sign(PendingFile file, int part) {
    return SignedPart.newBuilder().setPartNumber(part).setSizeBytes(partBytes)
        .setUrl(store.url(file.getUploadId(), part))
        .putHeaders("x-test", "sent")
        .setExpireTime(com.google.protobuf.Timestamp.newBuilder()
            .setSeconds(System.currentTimeMillis() / 1000 + expiresInSeconds))
        .build();
  }

  private final class Admin extends AdminServiceGrpc.AdminServiceImplBase {
    @Override
    public void getServerInfo(GetServerInfoRequest q, StreamObserver<GetServerInfoResponse> out) {
      answer("GetServerInfo", q, out, GetServerInfoResponse.newBuilder().setVersion("9.9.9")
          .setMinProtocolVersion(minVersion).setMaxProtocolVersion(maxVersion)
          .addAllDataPlanes(planes)
          .setLimits(Limits.newBuilder().setMaxMessageBytes(maxMessageBytes)).build());
    }
  }

  private final class Uploads extends UploadServiceGrpc.UploadServiceImplBase {
    @Override
    public void openFile(OpenFileRequest q, StreamObserver<OpenFileResponse> out) {
      PendingFile file = PendingFile.newBuilder().setUri(q.getUri())
          .setUploadId("u" + uploads.incrementAndGet()).setHandle(ByteString.copyFromUtf8("h"))
          .build();
      OpenFileResponse.Builder response = OpenFileResponse.newBuilder().setFile(file);
      for (int part = 1; part <= q.getPartsToSign(); part++) {
        response.addSignedParts(sign(file, part));
      }
      answer("OpenFile", q, out, response.build());
    }

    @Override
    public void signParts(SignPartsRequest q, StreamObserver<SignPartsResponse> out) {
      SignPartsResponse.Builder response = SignPartsResponse.newBuilder();
      for (int i = 0; i < q.getCount(); i++) {
        response.addSignedParts(sign(q.getFile(), q.getFirstPartNumber() + i));
      }
      answer("SignParts", q, out, response.build());
    }

    @Override
    public void abortFile(AbortFileRequest q, StreamObserver<AbortFileResponse> out) {
      answer("AbortFile", q, out, AbortFileResponse.getDefaultInstance());
    }
  }

  private final class Jobs extends JobServiceGrpc.JobServiceImplBase {
    @Override
    public void setupJob(SetupJobRequest q, StreamObserver<SetupJobResponse> out) {
      answer("SetupJob", q, out,
          SetupJobResponse.newBuilder().setToken(q.getJob().getTokens(0)).build());
    }

    @Override
    public void setupTask(SetupTaskRequest q, StreamObserver<SetupTaskResponse> out) {
      answer("SetupTask", q, out,
          SetupTaskResponse.newBuilder().setToken(q.getJob().getTokens(0))
              .setMaxInlineBytes(maxInlineBytes)
              .setMaxInlineBytesPerAttempt(maxInlineBytesPerAttempt).build());
    }

    @Override
    public void needsTaskCommit(
        NeedsTaskCommitRequest q, StreamObserver<NeedsTaskCommitResponse> out) {
      answer("NeedsTaskCommit", q, out,
          NeedsTaskCommitResponse.newBuilder().setNeedsTaskCommit(true).build());
    }

    @Override
    public StreamObserver<CommitTaskRequest> commitTask(StreamObserver<CommitTaskResponse> out) {
      return new StreamObserver<CommitTaskRequest>() {
        private long files;
        private CommitTaskRequest header;

        @Override
        public void onNext(CommitTaskRequest message) {
          calls.add(message);
          if (message.hasHeader()) {
            header = message;
          }
          files += message.getFiles().getFilesCount();
        }

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onCompleted() {
          calls.remove(header);
          answer("CommitTask", header, out, CommitTaskResponse.newBuilder().setFiles(files)
              .setPendingset(pendingset(header.getHeader().getAttempt(), pendingsetBytes))
              .build());
        }
      };
    }

    @Override
    public void abortTask(AbortTaskRequest q, StreamObserver<AbortTaskResponse> out) {
      answer("AbortTask", q, out, AbortTaskResponse.getDefaultInstance());
    }

    @Override
    public void commitJob(CommitJobRequest q, StreamObserver<CommitJobResponse> out) {
      answer("CommitJob", q, out, CommitJobResponse.getDefaultInstance());
    }

    @Override
    public StreamObserver<CommitJobWithPendingsetsRequest> commitJobWithPendingsets(
        StreamObserver<CommitJobWithPendingsetsResponse> out) {
      return new StreamObserver<CommitJobWithPendingsetsRequest>() {
        private CommitJobWithPendingsetsRequest header;

        @Override
        public void onNext(CommitJobWithPendingsetsRequest message) {
          if (message.hasHeader()) {
            header = message;
          } else {
            calls.add(message);
          }
        }

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onCompleted() {
          answer("CommitJobWithPendingsets", header, out,
              CommitJobWithPendingsetsResponse.getDefaultInstance());
        }
      };
    }

    @Override
    public void abortJob(AbortJobRequest q, StreamObserver<AbortJobResponse> out) {
      answer("AbortJob", q, out, AbortJobResponse.newBuilder().setPublished(published).build());
    }

    @Override
    public void isCommitJobRepeatable(
        IsCommitJobRepeatableRequest q, StreamObserver<IsCommitJobRepeatableResponse> out) {
      answer("IsCommitJobRepeatable", q, out,
          IsCommitJobRepeatableResponse.newBuilder().setRepeatable(true).build());
    }

    @Override
    public void isRecoverySupported(
        IsRecoverySupportedRequest q, StreamObserver<IsRecoverySupportedResponse> out) {
      answer("IsRecoverySupported", q, out,
          IsRecoverySupportedResponse.newBuilder().setSupported(true).build());
    }

    @Override
    public void recoverTask(RecoverTaskRequest q, StreamObserver<RecoverTaskResponse> out) {
      answer("RecoverTask", q, out, RecoverTaskResponse.getDefaultInstance());
    }
  }
}
