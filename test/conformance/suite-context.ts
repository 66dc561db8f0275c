import type {
  ListedUpload,
  ObjectRef,
  ObjectStore,
  PartInfo,
  StoreCapabilities,
  UploadRef,
} from '../../src/ports/object-store.js';
import type { RunningTarget } from './conformance-target.js';
import { bytes, read } from './expectations.js';
import { randomUUID } from 'node:crypto';

/** A test, or for a known gap its opposite. */
export type Check = (
  name: string,
  body: () => Promise<void>,
  options?: { readonly concurrent: boolean },
) => void;

export type SuiteContext = ReturnType<typeof suiteContext>;

/** What the parts of the suite share: the running store, and how a test comes to objects and uploads. */
export function suiteContext(capabilities: StoreCapabilities, check: Check, target: () => RunningTarget) {
  /** Keys of one test, away from those of all others. */
  function place(): (name: string) => ObjectRef {
    const prefix = `${target().keyPrefix ?? ''}t-${randomUUID()}/`;
    return (name) => ({ bucket: target().bucket, key: prefix + name });
  }

  async function open(object: ObjectRef, metadata?: Record<string, string>): Promise<UploadRef> {
    const uploadId = await target().store.initiate(object, metadata === undefined ? {} : { metadata });
    return { ...object, uploadId };
  }

  async function openWithPart(
    object: ObjectRef,
    body: Uint8Array = bytes('content'),
  ): Promise<{ upload: UploadRef; parts: PartInfo[] }> {
    const upload = await open(object);
    return { upload, parts: [await target().store.uploadPart(upload, 1, body)] };
  }

  async function completed(object: ObjectRef, body?: Uint8Array): Promise<UploadRef> {
    const { upload, parts } = await openWithPart(object, body);
    await target().store.complete(upload, parts, {});
    return upload;
  }

  async function textOf(object: ObjectRef): Promise<string> {
    return Buffer.from((await read(target().store, object)).body).toString();
  }

  async function listAll(
    prefix: string,
    options: { maxKeys?: number; startAfter?: string; delimiter?: '/' } = {},
  ): Promise<{ keys: string[]; prefixes: string[]; pages: number }> {
    const keys: string[] = [];
    const prefixes: string[] = [];
    let continuation: string | undefined;
    let pages = 0;
    do {
      const page = await target().store.list(target().bucket, prefix, {
        ...options,
        ...(continuation !== undefined && { continuation }),
      });
      keys.push(...page.objects.map(({ key }) => key));
      prefixes.push(...page.prefixes);
      continuation = page.next;
      pages += 1;
    } while (continuation !== undefined && pages < 100);
    return { keys, prefixes, pages };
  }

  async function listAllUploads(prefix: string, maxUploads?: number): Promise<ListedUpload[]> {
    const uploads: ListedUpload[] = [];
    let continuation: string | undefined;
    let pages = 0;
    do {
      const page = await target().store.listUploads(target().bucket, prefix, {
        ...(maxUploads !== undefined && { maxUploads }),
        ...(continuation !== undefined && { continuation }),
      });
      uploads.push(...page.uploads);
      continuation = page.next;
      pages += 1;
    } while (continuation !== undefined && pages < 100);
    return uploads;
  }

  return {
    capabilities,
    check,
    get running(): RunningTarget {
      return target();
    },
    get store(): ObjectStore {
      return target().store;
    },
    place,
    open,
    openWithPart,
    completed,
    textOf,
    listAll,
    listAllUploads,
  };
}
