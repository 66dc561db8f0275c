import { parquetMetadata } from 'hyparquet';

export interface ListedObject {
  key: string;
  sizeBytes: number;
}

export interface ListedUpload {
  key: string;
  uploadId: string;
}

/** An independent client that says what a server holds; it shares nothing with the code under test. */
export abstract class TableReader {
  abstract readonly bucket: string;

  /** All objects under a prefix, in the order of their keys. */
  abstract listObjects(prefix?: string): Promise<ListedObject[]>;

  /** All open multipart uploads under a prefix. */
  abstract listUploads(prefix?: string): Promise<ListedUpload[]>;

  /** The bytes of an object, or undefined when there is none. */
  abstract getObject(key: string): Promise<Buffer | undefined>;

  abstract close(): void;

  /** The row counts in the footers of all Parquet files under a prefix, added up. */
  async parquetRows(prefix: string): Promise<{ files: number; rows: number }> {
    let files = 0;
    let rows = 0;
    for (const { key } of await this.listObjects(prefix)) {
      if (!key.endsWith('.parquet')) continue;
      const bytes = await this.getObject(key);
      if (bytes === undefined) continue; // deleted since the listing
      const copy = new Uint8Array(bytes).buffer;
      files += 1;
      rows += Number(parquetMetadata(copy).num_rows);
    }
    return { files, rows };
  }
}
