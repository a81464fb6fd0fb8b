/** Endings of names by MIME type: those that tables of types lack, or know as something else, and what is shown in threads. */
const ENDINGS: Readonly<Record<string, string>> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv tab',
  'text/html': 'html htm',
  'text/plain':
    'txt log fa fasta fna faa fq fastq sam vcf maf bed bedgraph bedpe wig gff gff3 gtf gct gmt cls ped fam bim mtx mgf mztab nwk phy aln sto nex gb gbk gbff embl psf itp gmx res crd pfm ace asc str pcl r rmd py yaml yml',
  'application/octet-stream':
    'bam bai cram crai bcf tbi csi bw bigwig bb bigbed 2bit rds rda rdata npy npz parquet feather raw czi nd2 lif dna mrc spc bdf map msf stk st ser mcd fdt',
  'application/gzip': 'gz bgz tgz',
  'application/x-bzip2': 'bz2',
  'application/x-xz': 'xz',
  'application/zstd': 'zst',
  'application/zip': 'zip',
  'application/x-hdf5': 'h5 h5ad loom ims',
  'chemical/x-pdb': 'pdb ent',
  'chemical/x-cif': 'cif',
  'chemical/x-mmcif': 'mmcif',
  'chemical/x-daylight-smiles': 'smi smiles',
  'chemical/x-mdl-sdfile': 'sdf',
  'chemical/x-mdl-molfile': 'mol',
  'chemical/x-xyz': 'xyz',
  'image/png': 'png',
  'image/jpeg': 'jpg jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
const TYPES = new Map(
  Object.entries(ENDINGS).flatMap(([type, endings]) => endings.split(' ').map((ending) => [ending, type])),
);

/** The MIME type of a file, without parameters: what its name's ending says, if that is a known one, or else the announced type. */
export function fileType(name: string, announced: string): string {
  const known = TYPES.get(/\.(\w+)$/.exec(name.trim())?.[1]?.toLowerCase() ?? '');
  return known ?? /^[\w.+-]+\/[\w.+-]+/.exec(announced)?.[0] ?? 'application/octet-stream';
}
