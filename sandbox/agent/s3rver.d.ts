/** Types for the parts of s3rver in use; the package has none. */
declare module '@20minutes/s3rver' {
  import type { Server } from 'node:http';

  interface Context {
    headers: Record<string, string | string[] | undefined>;
    query: Record<string, string | string[] | undefined>;
  }

  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      silent: boolean;
      directory: string;
      vhostBuckets: boolean;
      configureBuckets: { name: string }[];
    });
    readonly httpServer: Server;
    readonly middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[];
    readonly store: {
      putObjectMultipart(
        bucket: string,
        uploadId: string,
        parts: { number: number; etag: string }[],
      ): Promise<{ size: number; md5: string }>;
    };
    on(event: 'error', listener: (error: unknown) => void): this;
    run(): Promise<{ address: string; port: number }>;
    close(): Promise<void>;
  }
}

declare module '@20minutes/s3rver/lib/models/error.js' {
  export default class S3Error extends Error {
    constructor(code: string, message: string);
  }
}
