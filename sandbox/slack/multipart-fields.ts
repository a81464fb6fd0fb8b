import type { RequestHandler } from 'express';

/** Parses a multipart form whose body is already read: texts stay texts, files become their bytes. */
export const multipartFields: RequestHandler = (request, _response, next) => {
  const body: unknown = request.body;
  const contentType = request.get('content-type') ?? '';
  if (!Buffer.isBuffer(body) || !contentType.startsWith('multipart/form-data')) {
    next();
    return;
  }
  new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .then(async (form) => {
      const fields = [...form].map(async ([name, value]) => [
        name,
        typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer()),
      ]);
      request.body = Object.fromEntries(await Promise.all(fields));
    })
    .then(() => next(), next);
};
