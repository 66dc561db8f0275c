package io.commitbridge.internal;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes of a part, in pieces that grow with it: a file of a few bytes takes a few kilobytes, and a
 * large one is never copied to grow.
 */
final class PartBuffer {
  private static final int FIRST_PIECE = 8 * 1024;
  private static final int LARGEST_PIECE = 1024 * 1024;

  private final List<byte[]> pieces = new ArrayList<>();
  private int usedInLast;
  private long length;

  long length() {
    return length;
  }

  void write(byte[] bytes, int offset, int count) {
    int from = offset;
    int left = count;
    while (left > 0) {
      byte[] last = room();
      int taken = Math.min(left, last.length - usedInLast);
      System.arraycopy(bytes, from, last, usedInLast, taken);
      usedInLast += taken;
      from += taken;
      left -= taken;
    }
    length += count;
  }

  void write(int value) {
    byte[] last = room();
    last[usedInLast++] = (byte) value;
    length++;
  }

  private byte[] room() {
    int count = pieces.size();
    if (count > 0 && usedInLast < pieces.get(count - 1).length) {
      return pieces.get(count - 1);
    }
    int size = FIRST_PIECE;
    if (count > 0) {
      size = Math.min(LARGEST_PIECE, pieces.get(count - 1).length * 2);
    }
    byte[] piece = new byte[size];
    pieces.add(piece);
    usedInLast = 0;
    return piece;
  }

  /** Writes a range; may be called again, by any thread, once the buffer is full. */
  void writeTo(OutputStream out, long from, long count) throws IOException {
    long pieceStart = 0;
    long end = from + count;
    for (byte[] piece : pieces) {
      long start = Math.max(from, pieceStart);
      long stop = Math.min(end, pieceStart + piece.length);
      if (start < stop) {
        out.write(piece, (int) (start - pieceStart), (int) (stop - start));
      }
      pieceStart += piece.length;
    }
  }

  /** The bytes from a position on, in a buffer of their own. */
  PartBuffer tail(long from) {
    PartBuffer rest = new PartBuffer();
    long pieceStart = 0;
    for (byte[] piece : pieces) {
      long start = Math.max(from, pieceStart);
      long stop = Math.min(length, pieceStart + piece.length);
      if (start < stop) {
        rest.write(piece, (int) (start - pieceStart), (int) (stop - start));
      }
      pieceStart += piece.length;
    }
    return rest;
  }
}
