package io.commitbridge.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What is in the jar that people put beside Spark's and Hadoop's. */
class BundleIT {
  private static final String PREFIX = "io/commitbridge/";
  private static final int JAVA_8 = 52;
  /** What Hadoop and Spark find without being told. */
  private static final List<String> SERVICES = Arrays.asList("org.apache.hadoop.fs.FileSystem",
      "org.apache.spark.sql.SparkSessionExtensionsProvider");

  private static JarFile open() throws IOException {
    return new JarFile(System.getProperty("bundle.jar"));
  }

  private static List<String> names(JarFile jar, String suffix) {
    return jar.stream().map(JarEntry::getName).filter(name -> name.endsWith(suffix))
        .collect(Collectors.toList());
  }

  @Test
  void everyClassIsUnderThePrefix() throws IOException {
    try (JarFile jar = open()) {
      List<String> classes = names(jar, ".class");
      assertTrue(classes.size() > 3_000, "only " + classes.size() + " classes");
      assertEquals(Collections.emptyList(), classes.stream()
          .filter(name -> !name.startsWith(PREFIX)).collect(Collectors.toList()));
    }
  }

  @Test
  void everyClassRunsOnJava8() throws IOException {
    try (JarFile jar = open()) {
      List<String> newer = new ArrayList<>();
      for (String name : names(jar, ".class")) {
        try (DataInputStream in = new DataInputStream(jar.getInputStream(jar.getEntry(name)))) {
          in.readInt();
          in.readUnsignedShort();
          if (in.readUnsignedShort() > JAVA_8) {
            newer.add(name);
          }
        }
      }
      assertEquals(Collections.emptyList(), newer);
    }
  }

  @Test
  void servicesNameClassesOfTheJar() throws IOException {
    try (JarFile jar = open()) {
      List<String> services = jar.stream().map(JarEntry::getName)
          .filter(name -> name.startsWith("META-INF/services/") && !name.endsWith("/"))
          .collect(Collectors.toList());
      for (String service : SERVICES) {
        assertTrue(services.contains("META-INF/services/" + service), service);
      }
      assertTrue(services.contains(
          "META-INF/services/io.commitbridge.shaded.io.grpc.ManagedChannelProvider"));
      for (String service : services) {
        String type = service.substring("META-INF/services/".length());
        assertTrue(
            type.startsWith("io.commitbridge.shaded.") || SERVICES.contains(type), service);
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(
            jar.getInputStream(jar.getEntry(service)), StandardCharsets.UTF_8))) {
          for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String provider = line.replaceAll("#.*", "").trim();
            if (!provider.isEmpty()) {
              assertNotNull(jar.getEntry(provider.replace('.', '/') + ".class"),
                  service + " names " + provider);
            }
          }
        }
      }
    }
  }

  @Test
  void nothingElseIsInTheJar() throws IOException {
    List<String> allowed = Arrays.asList("META-INF/MANIFEST.MF", "META-INF/LICENSE",
        "META-INF/NOTICE");
    try (JarFile jar = open()) {
      List<String> others = jar.stream().filter(entry -> !entry.isDirectory())
          .map(JarEntry::getName)
          .filter(name -> !name.startsWith(PREFIX) && !allowed.contains(name)
              && !name.startsWith("META-INF/services/")
              && !name.matches("META-INF/native/lib(netty_)?io_commitbridge_shaded_.*\\.so"))
          .collect(Collectors.toList());
      assertEquals(Collections.emptyList(), others);
      for (String name : allowed) {
        assertNotNull(jar.getEntry(name), name);
      }
      assertFalse(names(jar, ".so").isEmpty(), "no native library for unix sockets");
    }
  }

  /** A class path of nothing but the jar and Java: what is relocated must find itself. */
  @Test
  void unixSocketChannelsCanBeBuilt() throws Exception {
    URL url = Paths.get(System.getProperty("bundle.jar")).toUri().toURL();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {url}, null)) {
      String grpc = "io.commitbridge.shaded.io.grpc.";
      Class<?> credentials = loader.loadClass(grpc + "ChannelCredentials");
      Object insecure = loader.loadClass(grpc + "InsecureChannelCredentials")
          .getMethod("create").invoke(null);
      Object builder = loader.loadClass(grpc + "Grpc")
          .getMethod("newChannelBuilder", String.class, credentials)
          .invoke(null, "unix:///nowhere.sock", insecure);
      Object channel = loader.loadClass(grpc + "ManagedChannelBuilder").getMethod("build")
          .invoke(builder);
      loader.loadClass(grpc + "ManagedChannel").getMethod("shutdownNow").invoke(channel);
    }
  }
}
