/** MIME types by the endings of files' names: those that tables of types lack, or know as something else. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ csv: 'text/csv', tsv: 'text/tab-separated-values', tab: 'text/tab-separated-values' },
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' },
  ...{ svg: 'image/svg+xml', tif: 'image/tiff', tiff: 'image/tiff', pdf: 'application/pdf' },
  ...{ json: 'application/json', html: 'text/html', md: 'text/markdown', zip: 'application/zip' },
  ...{ gz: 'application/gzip', bgz: 'application/gzip', tgz: 'application/gzip', tar: 'application/x-tar' },
  ...{
    bz2: 'application/x-bzip2',
    xz: 'application/x-xz',
    zst: 'application/zstd',
    '7z': 'application/x-7z-compressed',
  },
  ...{ h5: 'application/x-hdf5', h5ad: 'application/x-hdf5', loom: 'application/x-hdf5' },
  ...{
    pdb: 'chemical/x-pdb',
    cif: 'chemical/x-cif',
    mmcif: 'chemical/x-mmcif',
    mol: 'chemical/x-mdl-molfile',
  },
  ...{ sdf: 'chemical/x-mdl-sdfile', mol2: 'chemical/x-mol2', xyz: 'chemical/x-xyz' },
};
/** Formats of sequences, variants, annotations and spectra whose files are lines of text. */
const TEXTS =
  /^(?:txt|log|fa|fasta|fna|faa|ffn|fq|fastq|sam|vcf|maf|bed|bedgraph|bedpe|wig|gff|gff3|gtf|gct|gmt|cls|ped|fam|bim|pheno|mtx|mgf|mztab|newick|nwk|phy|aln|sto|r|rmd|py|yaml|yml)$/;
/** Formats of their own, of bytes. */
const BYTES =
  /^(?:bam|bai|cram|crai|bcf|tbi|csi|bw|bigwig|bb|bigbed|2bit|rds|rda|rdata|npy|npz|parquet|feather|raw|czi|nd2|lif|pkl)$/;

/** The MIME type of a file: what its name's ending says, if that is a known one, or else the announced type. */
export function fileType(name: string, announced: string): string {
  const ending = /\.(\w+)$/.exec(name.trim())?.[1]?.toLowerCase() ?? '';
  if (Object.hasOwn(TYPES, ending)) return TYPES[ending] ?? announced;
  if (TEXTS.test(ending)) return 'text/plain';
  return BYTES.test(ending) ? 'application/octet-stream' : announced;
}
