package io.commitbridge.it;

import java.util.SplittableRandom;
import org.apache.spark.sql.api.java.UDF1;

/** A string of a given length that depends on the id alone and hardly compresses. */
final class SampleValue implements UDF1<Long, String> {
  private static final long serialVersionUID = 1L;
  private static final String LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

  private final int length;

  SampleValue(int length) {
    this.length = length;
  }

  @Override
  public String call(Long id) {
    SplittableRandom random = new SplittableRandom(id);
    char[] text = new char[length];
    long bits = 0;
    for (int i = 0; i < length; i++) {
      bits = i % 10 == 0 ? random.nextLong() : bits >>> 6;
      text[i] = LETTERS.charAt((int) (bits & 63));
    }
    return new String(text);
  }
}
