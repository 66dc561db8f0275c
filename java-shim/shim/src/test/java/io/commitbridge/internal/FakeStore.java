package io.commitbridge.internal;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A store that takes parts by PUT and answers what the test wants. */
final class FakeStore implements AutoCloseable {
  /** Answers that are given, in order, before parts are stored; 0 closes without an answer. */
  final Deque<Integer> statuses = new ConcurrentLinkedDeque<>();
  final List<String> puts = new CopyOnWriteArrayList<>();
  final AtomicInteger signatures = new AtomicInteger();
  final AtomicInteger inFlight = new AtomicInteger();
  final AtomicInteger maxInFlight = new AtomicInteger();
  volatile boolean sendEtag = true;
  /** Permits of parts that may be stored; null for all. */
  volatile Semaphore gate;
  private final Map<String, TreeMap<Integer, byte[]>> uploads = new ConcurrentHashMap<>();
  private final HttpServer server;
  private final ExecutorService pool = Executors.newCachedThreadPool(task -> {
    Thread thread = new Thread(task, "fake-store");
    thread.setDaemon(true);
    return thread;
  });

  FakeStore() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(pool);
    server.createContext("/", this::handle);
    server.start();
  }

  String url(String uploadId, int part) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/" + uploadId + "/" + part
        + "?X-Amz-Signature=secret" + signatures.incrementAndGet();
  }

  byte[] bytes(String uploadId) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : uploads.get(uploadId).values()) {
      all.write(part, 0, part.length);
    }
    return all.toByteArray();
  }

  private void handle(HttpExchange exchange) throws IOException {
    maxInFlight.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
    byte[] body;
    try {
      body = read(exchange);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      exchange.close();
      return;
    } finally {
      // Before the answer: after it the client may be sending the next part already.
      inFlight.decrementAndGet();
    }
    answer(exchange, body);
    exchange.close();
  }

  private byte[] read(HttpExchange exchange) throws IOException, InterruptedException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    byte[] chunk = new byte[65536];
    InputStream in = exchange.getRequestBody();
    for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
      body.write(chunk, 0, count);
    }
    puts.add(exchange.getRequestURI() + " " + exchange.getRequestHeaders().getFirst("x-test") + " "
        + body.size());
    Semaphore waiting = gate;
    if (waiting != null) {
      waiting.acquire();
    }
    return body.toByteArray();
  }

  private void answer(HttpExchange exchange, byte[] body) throws IOException {
    String[] path = exchange.getRequestURI().getPath().split("/");
    Integer status = statuses.poll();
    if (status != null && status == 0) {
      return;
    }
    if (status != null && status != 200) {
      byte[] text = "<Error><Code>TestError</Code><Message>as the test said</Message></Error>"
          .getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, text.length);
      exchange.getResponseBody().write(text);
      return;
    }
    uploads.computeIfAbsent(path[1], id -> new TreeMap<>());
    synchronized (uploads.get(path[1])) {
      uploads.get(path[1]).put(Integer.parseInt(path[2]), body);
    }
    if (sendEtag) {
      exchange.getResponseHeaders().add("ETag", "\"e" + path[2] + "\"");
    }
    exchange.sendResponseHeaders(200, -1);
  }

  @Override
  public void close() {
    server.stop(0);
    pool.shutdownNow();
  }
}
