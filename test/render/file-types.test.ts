import { expect, test } from 'vitest';
import { fileType } from '../../src/render/file-types.ts';

test.each([
  ['counts.csv.gz', 'text/csv', 'application/gzip'],
  ['figure.png.gz', 'image/png', 'application/gzip'],
  ['calls.vcf', 'text/x-vcard', 'text/plain'],
  ['calls.vcf.bgz', 'text/x-vcard', 'application/gzip'],
  ['6VXX.pdb', 'application/vnd.palm', 'chemical/x-pdb'],
  ['ligands.smi', 'application/smil+xml', 'chemical/x-daylight-smiles'],
  ['ligands.sdf', 'application/vnd.Kinar', 'chemical/x-mdl-sdfile'],
  ['aspirin.mol', 'application/octet-stream', 'chemical/x-mdl-molfile'],
  ['7k3g.cif', 'application/vnd.multiad.creator.cif', 'chemical/x-cif'],
  ['pdb1tup.ent', 'application/xml-external-parsed-entity', 'chemical/x-pdb'],
  ['plasmid.gb', 'application/octet-stream', 'text/plain'],
  ['plasmid.dna', 'application/vnd.dna', 'application/octet-stream'],
  ['reads.sam', 'application/vnd.lotus-wordpro', 'text/plain'],
  ['sets.gmx', 'application/vnd.gmx', 'text/plain'],
  ['ligand.itp', 'application/vnd.shana.informed.formtemplate', 'text/plain'],
  ['map.mrc', 'application/marc', 'application/octet-stream'],
  ['cells.ims', 'application/vnd.ms-ims', 'application/x-hdf5'],
  ['spectrum.spc', 'application/x-pkcs7-certificates', 'application/octet-stream'],
  ['eeg.bdf', 'application/x-font-bdf', 'application/octet-stream'],
  ['peaks.bed', 'application/vnd.realvnc.bed', 'text/plain'],
  ['atlas.h5ad', 'application/octet-stream', 'application/x-hdf5'],
  ['Table S1.CSV', 'application/vnd.ms-excel', 'text/csv'],
  ['reads.BAM', 'text/plain', 'application/octet-stream'],
  ['notes.docx', 'application/msword', 'application/msword'],
  ['README', 'text/plain', 'text/plain'],
  ['x.constructor', 'a/b', 'a/b'],
])('%s, announced as %s, is %s', (name, announced, type) => {
  expect(fileType(name, announced)).toBe(type);
});
