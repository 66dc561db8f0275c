/** A way that bytes take to the store. */
export interface Plane {
  /** What writes: S3A alone, or the tasks of a job of ours. */
  readonly writer: 's3a' | 'commitbridge';
  readonly scheme: 'http' | 'https';
  /** Small files, as many as a task may send inline; otherwise a large one a task. */
  readonly small: boolean;
  readonly settings: Readonly<Record<string, string>>;
}

const s3a = {
  'fs.s3a.performance.flags': '*',
  'fs.s3a.fast.upload.buffer': 'bytebuffer',
};

/** By their names in the result. */
export const planes: Readonly<Record<string, Plane>> = {
  direct: ours('http', false),
  s3a: theirs('http', false),
  direct_https: ours('https', false),
  s3a_https: theirs('https', false),
  inline: ours('http', true),
  s3a_small: theirs('http', true),
  inline_https: ours('https', true),
  s3a_small_https: theirs('https', true),
};

/** Whose upload of the same bytes each of ours is beside. */
export const peers: Readonly<Record<string, string>> = {
  direct: 's3a',
  direct_https: 's3a_https',
  inline: 's3a_small',
  inline_https: 's3a_small_https',
};

function ours(scheme: Plane['scheme'], small: boolean): Plane {
  return { writer: 'commitbridge', scheme, small, settings: { 'commitbridge.inline-limit': '16k' } };
}

function theirs(scheme: Plane['scheme'], small: boolean): Plane {
  return { writer: 's3a', scheme, small, settings: s3a };
}
