/** The parts of jsonld that are used here; the package brings no types. */
declare module 'jsonld' {
  interface Options {
    /** Throws where a property would be dropped. */
    safe: boolean;
    /** What relative ids are relative to. */
    base: string;
    documentLoader: (url: string) => Promise<{ contextUrl?: string; documentUrl: string; document: unknown }>;
  }
  const jsonld: { expand(document: object, options: Options): Promise<unknown[]> };
  export default jsonld;
}

/** The part of ro-crate that its types leave out. */
declare module 'ro-crate/lib/validator.js' {
  export class Validator {
    readonly results: unknown;
    parseJSON(json: object): void;
    rootDataEntity(): void;
    checkFiles(files: Record<string, { exists: boolean }>): void;
  }
}
