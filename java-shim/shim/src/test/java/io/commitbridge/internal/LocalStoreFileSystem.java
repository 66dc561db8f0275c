package io.commitbridge.internal;

import java.io.File;
import java.net.URI;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** What an engine finds under s3a: it asks whether the destination exists, and writes nothing. */
public class LocalStoreFileSystem extends RawLocalFileSystem {
  static volatile File folder;

  @Override
  public URI getUri() {
    return URI.create("s3a://bucket");
  }

  @Override
  public String getScheme() {
    return "s3a";
  }

  @Override
  protected void checkPath(Path path) {}

  @Override
  public File pathToFile(Path path) {
    return new File(folder, path.toUri().getPath());
  }
}
