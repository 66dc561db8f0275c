import { abortFile } from '../app/abort-file.js';
import { closeFile } from '../app/close-file.js';
import type { AppContext } from '../app/context.js';
import { openFile } from '../app/open-file.js';
import { signMoreParts } from '../app/sign-parts.js';
import * as decode from './decode.js';
import * as encode from './encode.js';
import type { UploadServiceHandlers } from './generated/commitbridge/v1/UploadService.js';
import { unary } from './handler.js';

export function uploadService(ctx: AppContext): UploadServiceHandlers {
  const { logger } = ctx;
  return {
    OpenFile: unary(logger, async ({ job, attempt, uri, partsToSign, contentType }, { principal }) => {
      const input = {
        job: decode.jobRef(job),
        attempt: decode.attemptRef(attempt),
        uri,
        partsToSign,
        contentType,
      };
      const { file, signedParts } = await openFile(ctx, input, principal);
      return { file: encode.pendingFile(file), signedParts: signedParts.map(encode.signedPart) };
    }),

    SignParts: unary(logger, async ({ job, attempt, file, firstPartNumber, count }, { principal }) => {
      const input = {
        job: decode.jobRef(job),
        attempt: decode.attemptRef(attempt),
        file: decode.fileRef(file),
        firstPartNumber,
        count,
      };
      return { signedParts: (await signMoreParts(ctx, input, principal)).map(encode.signedPart) };
    }),

    CloseFile: unary(logger, async ({ job, attempt, file }, { principal }) => {
      const input = {
        job: decode.jobRef(job),
        attempt: decode.attemptRef(attempt),
        file: decode.uploadedFile(file),
      };
      await closeFile(ctx, input, principal);
      return {};
    }),

    AbortFile: unary(logger, async ({ job, attempt, file }, { principal }) => {
      const input = {
        job: decode.jobRef(job),
        attempt: decode.attemptRef(attempt),
        file: decode.fileRef(file),
      };
      await abortFile(ctx, input, principal);
      return {};
    }),
  };
}
