import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/** Calls of hadoop-aliyun's FileSystem: what Spark and MapReduce do with oss:// paths. */
public final class FileSystemCalls {
  private static final int LARGE = 1_500_000;

  private static FileSystem fs;
  private static Path home;

  private FileSystemCalls() {}

  public static void main(String[] args) throws Exception {
    URI root = URI.create("oss://" + Script.env("BUCKET") + "/");
    home = new Path(root.toString(), "hadoop-" + System.getProperty("hadoop.version") + "-" + Script.env("SIGNATURE"));
    fs = FileSystem.newInstance(root, configuration());
    directories();
    files();
    renames();
    listings();
    fs.close();
    Script.finish();
  }

  private static Configuration configuration() {
    Configuration conf = new Configuration(false);
    conf.set("fs.oss.impl", "org.apache.hadoop.fs.aliyun.oss.AliyunOSSFileSystem");
    conf.set("fs.oss.endpoint", Script.env("ENDPOINT"));
    conf.set("fs.oss.accessKeyId", Script.env("ACCESS_KEY_ID"));
    conf.set("fs.oss.accessKeySecret", Script.env("ACCESS_KEY_SECRET"));
    conf.set("fs.oss.connection.secure.enabled", "false");
    conf.set("fs.oss.buffer.dir", System.getProperty("java.io.tmpdir"));
    // Small enough for several parts of a large file, written or copied.
    conf.set("fs.oss.multipart.upload.size", "131072");
    conf.set("fs.oss.multipart.upload.threshold", "262144");
    conf.set("fs.oss.paging.maximum", "10");
    if ("v4".equals(Script.env("SIGNATURE"))) {
      conf.set("fs.oss.signatureversion", "V4");
      conf.set("fs.oss.region", Script.env("REGION"));
    }
    return conf;
  }

  private static Path path(String name) {
    return new Path(home, name);
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i * 31 + i / 1000);
    }
    return bytes;
  }

  private static void write(Path file, byte[] body) throws IOException {
    try (FSDataOutputStream out = fs.create(file, true)) {
      out.write(body);
    }
  }

  private static byte[] read(Path file) throws IOException {
    byte[] body = new byte[(int) fs.getFileStatus(file).getLen()];
    try (FSDataInputStream in = fs.open(file)) {
      in.readFully(0, body);
    }
    return body;
  }

  private static void holds(Path file, byte[] body) throws IOException {
    Script.equal(Arrays.equals(read(file), body), true);
  }

  private static void absent(Path path) throws IOException {
    Script.equal(fs.exists(path), false);
  }

  private static void directories() {
    Script.call("mkdirs", () -> {
      Script.equal(fs.mkdirs(path("a/b/c")), true);
      Script.equal(fs.getFileStatus(path("a/b/c")).isDirectory(), true);
      Script.equal(fs.getFileStatus(path("a/b")).isDirectory(), true);
    });
    Script.call("an absent path", () -> {
      absent(path("none"));
      try {
        fs.getFileStatus(path("none"));
      } catch (FileNotFoundException expected) {
        return;
      }
      throw new AssertionError("no FileNotFoundException");
    });
  }

  private static void files() {
    Script.call("create, open and delete", () -> {
      write(path("small é"), bytes(1000));
      holds(path("small é"), bytes(1000));
      Script.equal(fs.delete(path("small é"), false), true);
      absent(path("small é"));
    });
    Script.call("an empty file", () -> {
      write(path("empty"), new byte[0]);
      Script.equal(fs.getFileStatus(path("empty")).getLen(), 0L);
    });
    Script.call("a large file by multipart upload", () -> {
      write(path("large"), bytes(LARGE));
      holds(path("large"), bytes(LARGE));
    });
    Script.call("seek and positioned read", () -> {
      byte[] some = new byte[5000];
      try (FSDataInputStream in = fs.open(path("large"))) {
        in.seek(1_400_000);
        in.readFully(some);
        Script.equal(Arrays.equals(some, Arrays.copyOfRange(bytes(LARGE), 1_400_000, 1_405_000)), true);
        in.readFully(7, some);
        Script.equal(Arrays.equals(some, Arrays.copyOfRange(bytes(LARGE), 7, 5007)), true);
      }
    });
    Script.call("create without overwriting", () -> {
      try {
        fs.create(path("large"), false).close();
      } catch (FileAlreadyExistsException expected) {
        return;
      }
      throw new AssertionError("no FileAlreadyExistsException");
    });
  }

  private static void renames() {
    Script.call("rename of a small file, by copy", () -> {
      write(path("from"), bytes(10));
      Script.equal(fs.rename(path("from"), path("to")), true);
      absent(path("from"));
      holds(path("to"), bytes(10));
    });
    Script.call("rename of a large file, by copying parts", () -> {
      Script.equal(fs.rename(path("large"), path("large renamed")), true);
      absent(path("large"));
      holds(path("large renamed"), bytes(LARGE));
    });
    Script.call("rename of a directory", () -> {
      for (int i = 0; i < 25; i++) {
        write(path("dir/p=" + i % 3 + "/file " + i), bytes(100 + i));
      }
      Script.equal(fs.rename(path("dir"), path("moved")), true);
      absent(path("dir"));
      for (int i = 0; i < 25; i++) {
        holds(path("moved/p=" + i % 3 + "/file " + i), bytes(100 + i));
      }
    });
  }

  private static void listings() {
    Script.call("listStatus", () -> {
      TreeMap<String, Boolean> found = new TreeMap<>();
      for (FileStatus status : fs.listStatus(path("moved"))) {
        found.put(status.getPath().getName(), status.isDirectory());
      }
      Script.equal(found.toString(), "{p=0=true, p=1=true, p=2=true}");
    });
    Script.call("listFiles, recursive and by pages", () -> {
      List<String> names = new ArrayList<>();
      RemoteIterator<LocatedFileStatus> files = fs.listFiles(path("moved"), true);
      while (files.hasNext()) {
        names.add(files.next().getPath().getName());
      }
      Script.equal(names.size(), 25);
    });
    Script.call("delete of a directory, recursive and by pages", () -> {
      Script.equal(fs.delete(home, true), true);
      absent(path("moved"));
      absent(home);
    });
  }
}
