import { randomBytes } from 'node:crypto';
import { SortedMap } from './sorted-map.js';
import type { StoredObject } from './stored-object.js';
import type { Upload } from './upload.js';

export type Versioning = 'none' | 'Enabled' | 'Suspended';

/** One version of a key: an object, or a delete marker. */
export interface Version {
  versionId: string;
  /** Missing in a delete marker. */
  object?: StoredObject;
  lastModified: number;
}

/** What a write or a deletion did, for the reply's headers. */
export interface Written {
  /** Missing in a bucket that never had versions. */
  versionId?: string;
  deleteMarker?: boolean;
}

/** In a bucket without versioning, and for what was written while it is suspended. */
export const nullVersion = 'null';

export class Bucket {
  versioning: Versioning = 'none';
  /** As PutBucketLifecycle got it. */
  lifecycle: string | undefined;
  acl = 'private';
  /** Of all parts but the last. */
  minPartBytes = 100 * 1024;
  readonly uploads = new SortedMap<SortedMap<Upload>>();
  /** By key; versions from old to new, never empty. */
  readonly versions = new SortedMap<Version[]>();

  constructor(
    readonly name: string,
    readonly createdAt: number,
  ) {}

  /** The newest version's object, if that isn't a delete marker. */
  current(key: string): StoredObject | undefined {
    return this.latest(key)?.object;
  }

  latest(key: string): Version | undefined {
    return this.versions.get(key)?.at(-1);
  }

  version(key: string, versionId: string): Version | undefined {
    return this.versions.get(key)?.find((version) => version.versionId === versionId);
  }

  put(key: string, object: StoredObject): Written {
    const versionId = this.add(key, { object, lastModified: object.lastModified });
    return this.versioning === 'none' ? {} : { versionId };
  }

  /** A delete marker where there are versions; else the object goes. */
  delete(key: string, now: number): Written {
    if (this.versioning === 'none') {
      this.versions.delete(key);
      return {};
    }
    return { versionId: this.add(key, { lastModified: now }), deleteMarker: true };
  }

  deleteVersion(key: string, versionId: string): Written {
    const versions = this.versions.get(key) ?? [];
    const index = versions.findIndex((version) => version.versionId === versionId);
    const [gone] = index < 0 ? [] : versions.splice(index, 1);
    if (gone !== undefined && versions.length === 0) this.versions.delete(key);
    return { versionId, ...(gone !== undefined && gone.object === undefined ? { deleteMarker: true } : {}) };
  }

  private add(key: string, version: Omit<Version, 'versionId'>): string {
    const versionId = this.versioning === 'Enabled' ? newVersionId() : nullVersion;
    // There is one null version of a key at most.
    const others = (this.versions.get(key) ?? []).filter(
      (other) => versionId !== nullVersion || other.versionId !== nullVersion,
    );
    this.versions.set(key, [...others, { versionId, ...version }]);
    return versionId;
  }
}

function newVersionId(): string {
  return `CAEQ${randomBytes(24).toString('hex')}`;
}
