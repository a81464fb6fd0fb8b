import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { Endpoint, EndpointContext, EndpointRequest, EndpointResponse } from './endpoint.ts';
import type { FileRecord } from './records.ts';
import { readBody } from './request-input.ts';
import { fileJson } from './response-json.ts';
import { invalid, notFound, ServiceRefusal } from './service-refusal.ts';
import { InvalidParts, type LinkTerms } from './storage.ts';

/** S3's limit on part numbers. */
const MAX_PARTS = 10_000;

const creation = z.object({
  project_id: z.string(),
  filename: z
    .string()
    .min(1)
    .max(255)
    .refine((name) => !name.includes('/') && !name.includes('\0'), 'Invalid'),
  size_bytes: z.int().min(0),
  mime_type: z.string().regex(/^[\w.+-]+\/[\w.+-]+(?:\s*;.*)?$/),
  purpose: z.enum(['input', 'output']).optional(),
});
const partRequest = z.object({
  upload_id: z.string(),
  part_numbers: z.array(z.int().min(1).max(MAX_PARTS)).min(1).max(1000),
});
const completion = z.object({
  upload_id: z.string().optional(),
  parts: z.array(z.object({ part_number: z.int().min(1).max(MAX_PARTS), etag: z.string() })).optional(),
});

export function fileEndpoints(context: EndpointContext): Endpoint[] {
  const { state } = context;
  const find = (call: EndpointRequest): FileRecord => state.file(call.customer, call.params.file_id ?? '');
  return [
    { name: 'POST /experimental/files', handle: (call) => startUpload(context, call) },
    {
      name: 'GET /experimental/files/{file_id}',
      handle: async (call) => ({ status: 200, body: fileJson(await assertReadable(context, find(call))) }),
    },
    {
      name: 'POST /experimental/files/{file_id}/parts',
      handle: (call) => partLinks(context, call, find(call)),
    },
    {
      name: 'POST /experimental/files/{file_id}/finalize',
      handle: (call) => finalize(context, call, find(call)),
    },
    {
      name: 'GET /experimental/files/{file_id}/content',
      handle: (call) => download(context, call, find(call)),
    },
  ];
}

/** Whether the file's content is complete. A single upload may not need finalizing. */
export async function isReadable(
  { storage, behaviour }: EndpointContext,
  file: FileRecord,
): Promise<boolean> {
  if (!file.ready && file.uploadId === null && behaviour.singleFinalize !== 'needed') {
    file.ready = (await storage.size(file.key)) === file.size;
  }
  return file.ready;
}

async function assertReadable(context: EndpointContext, file: FileRecord): Promise<FileRecord> {
  if (!(await isReadable(context, file))) throw notFound('File', file.id);
  return file;
}

function uploadTerms({ behaviour }: EndpointContext): LinkTerms {
  return { lifeMs: behaviour.uploadLinkMs, headers: behaviour.uploadHeaders };
}

async function startUpload(
  context: EndpointContext,
  { customer, body }: EndpointRequest,
): Promise<EndpointResponse> {
  const { state, storage, behaviour } = context;
  const fields = readBody(creation, body, behaviour);
  const project = state.project(customer, fields.project_id);
  const { filename: name, size_bytes: size, mime_type: mime } = fields;
  if (behaviour.maxFileBytes !== null && size > behaviour.maxFileBytes) {
    const most = `A file may have at most ${behaviour.maxFileBytes} bytes`;
    throw new ServiceRefusal(413, most, ['body', 'size_bytes']);
  }
  if (behaviour.refusedTypes.some((type) => type === mime || (type.startsWith('.') && name.endsWith(type)))) {
    throw new ServiceRefusal(415, `Files of type ${mime} are not taken`, ['body', 'mime_type']);
  }
  const purpose = fields.purpose ?? 'input';
  const file = state.addFile({ project, name, mime, size, purpose, ready: false });
  const headers =
    Object.keys(behaviour.uploadHeaders).length === 0 ? {} : { headers: behaviour.uploadHeaders };
  const id = behaviour.fileId === 'file.id' ? { file: { id: file.id } } : { [behaviour.fileId]: file.id };
  const answer = { type: 'file_upload', ...id, ...headers };
  if (size <= behaviour.multipartThreshold) {
    const link = await storage.uploadLink(file.key, uploadTerms(context));
    return { status: 201, body: { ...answer, upload_type: 'single', [behaviour.uploadUrl]: link } };
  }
  file.uploadId = await storage.startMultipart(file.key);
  const partSize = behaviour.givesPartSize ? { part_size: behaviour.partSize } : {};
  return {
    status: 201,
    body: { ...answer, upload_type: 'multipart', upload_id: file.uploadId, ...partSize },
  };
}

async function partLinks(
  context: EndpointContext,
  { body }: EndpointRequest,
  file: FileRecord,
): Promise<EndpointResponse> {
  const { upload_id, part_numbers } = readBody(partRequest, body, context.behaviour);
  const uploadId = openUpload(file, upload_id);
  const entries = part_numbers.map(async (part) => {
    return [String(part), await context.storage.partLink(file.key, uploadId, part, uploadTerms(context))];
  });
  return {
    status: 200,
    body: { type: 'upload_part_urls', part_urls: Object.fromEntries(await Promise.all(entries)) },
  };
}

/** The id of the open multipart upload. @throws ServiceRefusal if there is none */
function openUpload(file: FileRecord, given: string | undefined): string {
  if (file.uploadId === null) throw new ServiceRefusal(409, 'The file is not uploaded in parts');
  if (given !== file.uploadId) throw invalid(['body', 'upload_id'], 'Not the id of this upload');
  if (file.ready) throw new ServiceRefusal(409, 'The upload is finalized already');
  return file.uploadId;
}

async function finalize(
  context: EndpointContext,
  { body }: EndpointRequest,
  file: FileRecord,
): Promise<EndpointResponse> {
  const { storage, behaviour } = context;
  const { upload_id, parts = [] } = readBody(completion, body ?? {}, behaviour);
  if (file.uploadId === null) {
    if (behaviour.singleFinalize !== 'needed')
      throw new ServiceRefusal(behaviour.singleFinalize, 'Nothing to finalize');
    if (file.ready) throw new ServiceRefusal(409, 'The upload is finalized already');
  } else {
    const uploadId = openUpload(file, upload_id);
    if (parts.length === 0) throw invalid(['body', 'parts'], 'Field required');
    const refs = parts.map(({ part_number, etag }) => ({ number: part_number, etag }));
    if (refs.some(({ number }, index) => number <= (refs[index - 1]?.number ?? 0))) {
      throw invalid(['body', 'parts'], 'Must be sorted by part_number');
    }
    try {
      await storage.finish(file.key, uploadId, refs, file.size);
    } catch (error) {
      if (error instanceof InvalidParts) throw invalid(['body', 'parts'], error.message);
      throw error;
    }
  }
  const stored = await storage.size(file.key);
  if (stored === undefined) throw new ServiceRefusal(409, 'Nothing was uploaded');
  if (stored !== file.size)
    throw new ServiceRefusal(422, `${stored} bytes were uploaded, ${file.size} were announced`);
  file.ready = true;
  switch (behaviour.finalizeAnswer) {
    case 'file':
      return { status: 200, body: fileJson(file) };
    case 'empty-object':
      return { status: 200, body: {} };
    case 'no-content':
      return { status: 204 };
  }
}

async function download(
  context: EndpointContext,
  { response }: EndpointRequest,
  file: FileRecord,
): Promise<EndpointResponse> {
  const { storage, behaviour } = context;
  const { key, name, mime } = await assertReadable(context, file);
  if (behaviour.contentDownload !== 'bytes') {
    const link = await storage.downloadLink(key, { name, mime, lifeMs: behaviour.downloadLinkMs });
    if (behaviour.contentDownload === 'redirect') return { redirect: link };
    return { status: 200, body: { download_url: link } };
  }
  response.attachment(name);
  response.setHeader('Content-Type', mime);
  response.setHeader('Content-Length', file.size);
  await pipeline(await storage.read(key), response);
  return undefined;
}
