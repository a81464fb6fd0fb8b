import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleReport } from '../../../sandbox/agent/sample-report.ts';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { visibleText } from '../../../sandbox/slack/visible-text.ts';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import type { RenderedMessage } from '../../../src/render/blocks/slack-blocks.ts';
import {
  type DisplayedReply,
  renderNextMessage,
  renderReply,
} from '../../../src/render/messages/reply-message.ts';
import { furtherSourceBlocks, sourcesOf } from '../../../src/render/messages/sources.ts';
import { MAX_TOOL_TEXT_LENGTH } from '../../../src/render/messages/tool-values.ts';
import { AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { markdownArbitrary } from '../../support/markdown-arbitrary.ts';

const text = (...texts: string[]): ContentBlock[] => texts.map((one) => ({ kind: 'text', text: one }));
const result = (content: string): ContentBlock => ({ kind: 'tool_result', toolUseId: 't1', content });
const labels = (blocks: readonly ContentBlock[]) => sourcesOf(blocks).map(({ label }) => label);
/** The addresses to which the sources lead, without their scheme. */
const pages = (blocks: readonly ContentBlock[]) =>
  sourcesOf(blocks).map(({ url }) => {
    const { host, pathname, search } = new URL(url);
    return `${host}${pathname}${search.replace(/[?&]utm_[^&]*/g, '').replace(/^&/, '?')}`.replace(/\/$/, '');
  });

/** What is easily taken for a source, and is none. */
const AWKWARD = `
scanpy 1.9.1, v3.12.0-rc.1, CUDA 10.2, numpy==10.1234, build 10.2023/py39, R² = 0.9812, R2=0.85, rs = 0.42, Rs 5000,
rs2, RS1234, RS-232, GSE1 and PMCH, NCT1, TP53, C9orf72, H3K27ac, P53, O95, HLA-B*57:01; wells A1, H12, P04, B10.
10.1234/min, 10.5000/3, 10.2500/1.5e3, 10.1000/100km, 10.1234/0.05, 10.2500/mL, 192.10.1234/24, 10.0.0.0/8, 10.1038/…, 10.1234/1.7, 10/2023
PMID, PMID 12, PMIDs: 20 found, PubMed: 12345 records, PubMed: 900123, pubmed (54321), 31978945, PMC12, PMC-123456, NCT1234567, NCT123456789, PMIDs 3 of 5
GSE12345_counts.csv, data/GSE12345/x.txt, GSE12345.tar, GSE12345.7z, /NCT04280705/, /NCT04280705/NCT04280706, GSE12345/GSM1, PMID|31978945, rs429358_C, 10.1038/s41586-020.pdf
PMC1234567@nih.gov, NCT04280705@example.org, @GSE12345, GSE12345@geo, BRCA1_rs429358, hsa_rs429358
PDB files, PDB 2021 release, PDB 10th, PDB 100KB, PDB: 10GB, PDB ID list, PDB: 20mg, 1TUP, 6VXX.
PDB: 3rd, PDB 20mg, PDB 5kDa, ClinVar 2024 release, ClinVar: 1500 variants, ClinVar:2024.05, PubMed 2023, RRID, RRID: pending, ENSG0001, CHEMBL, PXD12
rs232 and rs485 ports, GSM900 and GSM1800 bands, GDS15, GDS-30, GPL3, SRR123, PRJNA, E-MTAB, E-mail-12, ISRCTN123, 2008-005144,
12008-005144-16, 2008-005144-16-7, 1999-005144-16, SRR1234567_1.fastq.gz, ENSG00000139618.15_PAR_Y, PRJNA257197.csv, sp|P53, MRCV000033555
10.1234/patient, 10.1234/1.73m2, 10.5000/100kg, 10.1234/12.34567, 10.2500/1.234E-5, 10.1234/abcd-{id}, 10.1234/abcd@12, 10.1234/ab1234%
10.1016/S0140–6736(20)30183–5, 10.1002/1097-0142(20010101)91:1<1, 10.1890/0012-9658(2001)082[2072:EOT, 10.1016/S0140-
6736(20)30183-5, 10.1007/s00330\\u2010008, 10.1038/größe-12345, 10.1016/S0140-6736(20 30183, 10.1038/x~12345, 10.1038/s415*12
PDB 6VXX.cif, PDB 6VXX_A.pdb, PDB 6VXX_AB, UniProt P04637.fasta, UniProt P04637.4.fasta, arXiv 2020, arXiv:2001.012345, arXiv.2001.01234,
UniProt release 2024_01, UniProt P53_HUMAN, UniProt and TrEMBL, P04637, Q8N158
\`curl https://api.ncbi.nlm.nih.gov/x\` http://localhost:8888/lab http://127.0.0.1:80/ http://lab/ ftp://nature.com/a
https://example.org/a https://host.example/b https://nas.local/c mailto:a@nature.com nature.com/articles
\`\`\`sh
wget https://www.ensembl.org/x # PMID 31978945, doi:10.1038/s41586-020-2649-2
\`\`\`
- ~~~
  NCT04280705
  ~~~
![a plot](https://plots.ensembl.org/a.png) ![](<https://plots.ensembl.org/b.png>)
https://bucket.s3.amazonaws.com/x?X-Amz-Signature=abc&X-Amz-Date=1 https://files.nature.com/x?token=abc
https://www.ebi.ac.uk/{id}/x https://www.ebi.ac.uk/$ID/x https://www.ebi.ac.uk/arti… https://www.ebi.ac.uk/art...
[a chart](<https://www.ebi.ac.uk/my chart>) https://[2001:db8::1]/x http://[::1]:80/ 2001:db8::10.0
https://nature.com@evil.org/x https://user:pw@evil.org/x
https://pubmed.ncbi.nlm.nih.gov/?term="lung+cancer" https://www.ebi.ac.uk/a^b https://www.ebi.ac.uk/doi/10.1002/a91:1<1 https://www.ebi.ac.uk/a[b]c
https://www.ebi.ac.uk/a*b 10.1038/nature12373.The next
`;

/** Sources as people and models write them, each with the addresses that are listed for it. */
const WRITTEN: readonly (readonly [string, ...string[]])[] = [
  [
    'https://github.com/scverse/scanpy/blob/v1.9.1/GSE12345.md#L10',
    'github.com/scverse/scanpy/blob/v1.9.1/GSE12345.md',
  ],
  ['<https://www.ensembl.org/Homo_sapiens/>', 'www.ensembl.org/Homo_sapiens'],
  ['[R](https://en.wikipedia.org/wiki/R_(language))[^1]', 'en.wikipedia.org/wiki/R_(language)'],
  [
    'doi:10.1038/s41586-020-2650-9^1^ and 10.1016/j.cell.2020.02.058^{2}',
    'doi.org/10.1038/s41586-020-2650-9',
    'doi.org/10.1016/j.cell.2020.02.058',
  ],
  [
    'https://www.nature.com/articles/10.1038/s41586-020-1,p<0.05 there',
    'www.nature.com/articles/10.1038/s41586-020-1',
  ],
  [
    '[a paper](https://www.nature.com/articles/x?a=1&amp;b=2 "its title")',
    'www.nature.com/articles/x?a=1&b=2',
  ],
  ['**https://www.ebi.ac.uk/a\\_b**', 'www.ebi.ac.uk/a_b'],
  ["https://en.wikipedia.org/wiki/Alzheimer's_disease", "en.wikipedia.org/wiki/Alzheimer's_disease"],
  ["https://www.ebi.ac.uk/gwas's pages", 'www.ebi.ac.uk/gwas'],
  ['&lt;https://www.ebi.ac.uk/pride&gt;', 'www.ebi.ac.uk/pride'],
  ['<https://www.ebi.ac.uk/ena|ENA>', 'www.ebi.ac.uk/ena'],
  ['https://www.ebi.ac.uk/ols?utm_source=x&id=3', 'www.ebi.ac.uk/ols?id=3'],
  [
    '[10.1056/NEJMoa2001017](https://www.nejm.org/doi/10.1056/NEJMoa2001017)',
    'doi.org/10.1056/NEJMoa2001017',
  ],
  ['见https://www.ebi.ac.uk/chembl。', 'www.ebi.ac.uk/chembl'],
  [
    'https://en.wikipedia.org/wiki/Michaelis–Menten_kinetics',
    'en.wikipedia.org/wiki/Michaelis%E2%80%93Menten_kinetics',
  ],
  ['10.1016/S0140-6736(20)30183-5', 'doi.org/10.1016/S0140-6736(20)30183-5'],
  ['(doi:10.1038/nrg3', 'doi.org/10.1038/nrg3'],
  ['doi.org/10.7554/eLife.12345', 'doi.org/10.7554/eLife.12345'],
  ['https://dx.doi.org/10.1016/j.cell%2E2020', 'doi.org/10.1016/j.cell.2020'],
  ['**DOI:** `10.1101/2020.03.22.002386`', 'doi.org/10.1101/2020.03.22.002386'],
  ['10.1101/123456', 'doi.org/10.1101/123456'],
  [
    '10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2',
    'doi.org/10.1002/(SICI)1097-0258(19980815/30)17:15/16%3C1661::AID-SIM968%3E3.0.CO;2-2',
  ],
  ['PMID: 31978945', 'pubmed.ncbi.nlm.nih.gov/31978945'],
  ['_PMID 30971826_', 'pubmed.ncbi.nlm.nih.gov/30971826'],
  ['PMIDs 30971827.1, 30971828.2.', ...[27, 28].map((end) => `pubmed.ncbi.nlm.nih.gov/309718${end}`)],
  ['PMC7054410.1', 'pmc.ncbi.nlm.nih.gov/articles/PMC7054410'],
  ['PXD012345.2', 'proteomecentral.proteomexchange.org/cgi/GetDataset?ID=PXD012345'],
  ['pmid = {32015514}', 'pubmed.ncbi.nlm.nih.gov/32015514'],
  ['pmid         = {32015520}', 'pubmed.ncbi.nlm.nih.gov/32015520'],
  ['{"PubMed":"32015515"}', 'pubmed.ncbi.nlm.nih.gov/32015515'],
  ['https://pubmed.ncbi.nlm.nih.gov/32015516/?from=x&y', 'pubmed.ncbi.nlm.nih.gov/32015516'],
  ['PMID：30926970', 'pubmed.ncbi.nlm.nih.gov/30926970'],
  ['NCT04280706和', 'clinicaltrials.gov/study/NCT04280706'],
  ['10.1038/nature12373和', 'doi.org/10.1038/nature12373'],
  ['**PubMed ID** 32015507', 'pubmed.ncbi.nlm.nih.gov/32015507'],
  ['https://www.ncbi.nlm.nih.gov/pubmed/32132184/', 'pubmed.ncbi.nlm.nih.gov/32132184'],
  ['PMC7054408', 'pmc.ncbi.nlm.nih.gov/articles/PMC7054408'],
  ['https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7054409/', 'pmc.ncbi.nlm.nih.gov/articles/PMC7054409'],
  ['NCT04280705', 'clinicaltrials.gov/study/NCT04280705'],
  ['`GSE147507`', 'www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE147507'],
  ['rs334', 'www.ncbi.nlm.nih.gov/snp/rs334'],
  ['10.7910/DVN/EGZHFV', 'doi.org/10.7910/DVN/EGZHFV'],
  ['10.17504/protocols.io.bgytjxwn', 'doi.org/10.17504/protocols.io.bgytjxwn'],
  ['10.1021/cm025544+', 'doi.org/10.1021/cm025544+'],
  ['10.1063/1.1315609', 'doi.org/10.1063/1.1315609'],
  ['"10.1038\\/s41586-020-2649-2"', 'doi.org/10.1038/s41586-020-2649-2'],
  ['10.3389/fimmu.2020.00001/full', 'doi.org/10.3389/fimmu.2020.00001'],
  ['10.1016/j.ccell.2020&nbsp;', 'doi.org/10.1016/j.ccell.2020'],
  ['10.1016/S0140\u20116736(20)30185\u20115', 'doi.org/10.1016/S0140-6736(20)30185-5'],
  ['10.1038/nature12374\u2014a review', 'doi.org/10.1038/nature12374'],
  ['10.1038/nature12375[1]', 'doi.org/10.1038/nature12375'],
  ['doi=10.1038/nature12376&format=json', 'doi.org/10.1038/nature12376'],
  [
    '10.1002/1097-0142(20010101)91:1&amp;lt;1::AID-CNCR1&amp;gt;3.0.CO;2-A',
    'doi.org/10.1002/1097-0142(20010101)91:1%3C1::AID-CNCR1%3E3.0.CO;2-A',
  ],
  [
    '[this](https://doi.org/10.1175/1520-0485(2003)33<863:NFIAFW>2.0.CO;2)',
    'doi.org/10.1175/1520-0485(2003)33%3C863:NFIAFW%3E2.0.CO;2',
  ],
  [
    '10.1890/0012-9658(2001)082\\[2072:EOTPSO\\]2.0.CO;2-#',
    'doi.org/10.1890/0012-9658(2001)082[2072:EOTPSO]2.0.CO;2-%23',
  ],
  ['https:\\/\\/doi.org\\/10.1038%2Fnature12377', 'doi.org/10.1038/nature12377'],
  ['10.1038/nrg12345/10.1038/nrg54321', 'doi.org/10.1038/nrg12345', 'doi.org/10.1038/nrg54321'],
  ['[PubMed: 26098447]', 'pubmed.ncbi.nlm.nih.gov/26098447'],
  ['PMID\u00a032015508', 'pubmed.ncbi.nlm.nih.gov/32015508'],
  ['PMID\u201132015509', 'pubmed.ncbi.nlm.nih.gov/32015509'],
  [
    'PMIDs 32015510 (Zhou, 2020), 32015511 [2] and 32015512',
    ...[10, 11, 12].map((end) => `pubmed.ncbi.nlm.nih.gov/320155${end}`),
  ],
  ['https://europepmc.org/article/MED/32015513', 'pubmed.ncbi.nlm.nih.gov/32015513'],
  ['UniProt accession number P04638', 'www.uniprot.org/uniprotkb/P04638'],
  ['>sp|P04639|NAME', 'www.uniprot.org/uniprotkb/P04639'],
  ['"primaryAccession": "P04640"', 'www.uniprot.org/uniprotkb/P04640'],
  ['PDB accession codes 6VYB', 'www.rcsb.org/structure/6VYB'],
  ['The PDB code is 6VYO', 'www.rcsb.org/structure/6VYO'],
  ['pdb_00002gc4', 'www.rcsb.org/structure/2gc4'],
  ['PDB 3gc4', 'www.rcsb.org/structure/3gc4'],
  ['PDB 6LZG_A', 'www.rcsb.org/structure/6LZG'],
  ['PDB ID 7lzg.B', 'www.rcsb.org/structure/7lzg'],
  ['UniProt P04641.4', 'www.uniprot.org/uniprotkb/P04641'],
  ['arXiv:2103.01234', 'arxiv.org/abs/2103.01234'],
  ['(arXiv: 2104.01234v2)', 'arxiv.org/abs/2104.01234v2'],
  ['SRX000007', 'www.ncbi.nlm.nih.gov/sra/SRX000007'],
  ['https://www.ebi.ac.uk/ena/browser/view/ERR1234567', 'www.ncbi.nlm.nih.gov/sra/ERR1234567'],
  ['PRJDB3', 'www.ncbi.nlm.nih.gov/bioproject/PRJDB3'],
  ['PXD000440', 'proteomecentral.proteomexchange.org/cgi/GetDataset?ID=PXD000440'],
  ['E\u2011MTAB\u20115061', 'www.ebi.ac.uk/biostudies/arrayexpress/studies/E-MTAB-5061'],
  ['GDS1234', 'www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GDS1234'],
  ['ENSG00000139618.15', 'www.ensembl.org/id/ENSG00000139618'],
  ['ENSMUSG00000017167', 'www.ensembl.org/id/ENSMUSG00000017167'],
  ['CHEMBL25', 'www.ebi.ac.uk/chembl/id_lookup/CHEMBL25'],
  ['https://www.ebi.ac.uk/chembl/compound_report_card/CHEMBL26/', 'www.ebi.ac.uk/chembl/id_lookup/CHEMBL26'],
  ['RRID:AB_262044', 'scicrunch.org/resolver/RRID:AB_262044'],
  ['(RRID: IMSR_JAX:000664)', 'scicrunch.org/resolver/RRID:IMSR_JAX:000664'],
  ['ClinVar Variation ID: 12345', 'www.ncbi.nlm.nih.gov/clinvar/variation/12345'],
  ['RCV000033555.3', 'www.ncbi.nlm.nih.gov/clinvar/RCV000033555.3'],
  ['VCV000012582', 'www.ncbi.nlm.nih.gov/clinvar/?term=VCV000012582'],
  ['ISRCTN12345678', 'www.isrctn.com/ISRCTN12345678'],
  ['EudraCT 2008-005144-16/DE', 'www.clinicaltrialsregister.eu/ctr-search/search?query=2008-005144-16'],
  ['EUCT 2022-500137-39-00', 'euclinicaltrials.eu/ctis-public/view/2022-500137-39-00'],
  ['rs4680-A', 'www.ncbi.nlm.nih.gov/snp/rs4680'],
  ['rs429358/rs7412', 'www.ncbi.nlm.nih.gov/snp/rs429358', 'www.ncbi.nlm.nih.gov/snp/rs7412'],
  ['PDB 7K3G/7K3N', 'www.rcsb.org/structure/7K3G', 'www.rcsb.org/structure/7K3N'],
  ['PDB structure 6VXX', 'www.rcsb.org/structure/6VXX'],
  ['PDB ID: `1tup`', 'www.rcsb.org/structure/1tup'],
  ['https://www.rcsb.org/structure/4HHB', 'www.rcsb.org/structure/4HHB'],
  ['UniProt P04637-2', 'www.uniprot.org/uniprotkb/P04637'],
  ['UniProtKB accession: A0A024R161', 'www.uniprot.org/uniprotkb/A0A024R161'],
  ['arXiv:q-bio/0411040v2', 'arxiv.org/abs/q-bio/0411040v2'],
  ['https://arxiv.org/abs/math.GT/0309136', 'arxiv.org/abs/math.GT/0309136'],
  ['https://doi.org/10.1000/abc%2Cdef12', 'doi.org/10.1000/abc,def12'],
  ['https://doi.org/10.1000/abc%23def13', 'doi.org/10.1000/abc%23def13'],
  ['https://doi.org/10.1000/abc%7Cdef14', 'doi.org/10.1000/abc%7Cdef14'],
  ['https://doi.org/doi:10.1038/nature12378', 'doi.org/10.1038/nature12378'],
  ['https://doi.org//10.1038/nature12379', 'doi.org/10.1038/nature12379'],
  ['https://doi.org/https://doi.org/10.1038/nature12387', 'doi.org/10.1038/nature12387'],
  ['10.1038/nature12380.Epub 2020', 'doi.org/10.1038/nature12380'],
  ['https://doi.org/10.1038/nature12389.https://doi.org/10.1038/nature12390', 'doi.org/10.1038/nature12389'],
  ['10.1038/nature12381PMID 7', 'doi.org/10.1038/nature12381'],
  ['10.1038/nature12388CrossRefPubMedGoogle Scholar', 'doi.org/10.1038/nature12388'],
  ['doi:10.1073/pnas.1920139117/-/DCSupplemental', 'doi.org/10.1073/pnas.1920139117'],
  ['10.1126/science.abc1234/suppl/DC1', 'doi.org/10.1126/science.abc1234'],
  ['10.1038/nature12382-10.1038/nature12383', 'doi.org/10.1038/nature12382', 'doi.org/10.1038/nature12383'],
  ['10.1038/nature12384–10.1038/nature12385', 'doi.org/10.1038/nature12384', 'doi.org/10.1038/nature12385'],
  [
    '[10.1016/S0140-6736(20)...](https://doi.org/10.1016/S0140-6736(20)30186-6)',
    'doi.org/10.1016/S0140-6736(20)30186-6',
  ],
  [
    '[10.1038/nature12386 and data](https://doi.org/10.5061/dryad.8q931)',
    'doi.org/10.1038/nature12386',
    'doi.org/10.5061/dryad.8q931',
  ],
  [
    'https://esajournals.onlinelibrary.wiley.com/doi/10.1890/0012-9658(1997)078[0774:TMOPTB]2.0.CO;2',
    'doi.org/10.1890/0012-9658(1997)078[0774:TMOPTB]2.0.CO;2',
  ],
  [
    'https://journals.ametsoc.org/doi/10.1175/1520-0493(1988)116<0223:ACSOAB>2.0.CO;2',
    'doi.org/10.1175/1520-0493(1988)116%3C0223:ACSOAB%3E2.0.CO;2',
  ],
  [
    'https://www.ncbi.nlm.nih.gov/gene/?term=TP53[sym]+AND+human[orgn]',
    'www.ncbi.nlm.nih.gov/gene/?term=TP53[sym]+AND+human[orgn]',
  ],
  ['https://www.ebi.ac.uk/x?filter[]=a&f[0]=b', 'www.ebi.ac.uk/x?filter[]=a&f[0]=b'],
  ['https://www.ebi.ac.uk/allele.cgi?A*01:01', 'www.ebi.ac.uk/allele.cgi?A*01:01'],
  ['https://www.ebi.ac.uk/rna\\-seq', 'www.ebi.ac.uk/rna-seq'],
  ['https://en.wikipedia.org/wiki/Parkinson’s_disease', 'en.wikipedia.org/wiki/Parkinson%E2%80%99s_disease'],
  [
    'https://www.ebi.ac.uk/one,https://www.ebi.ac.uk/two;https://www.ebi.ac.uk/three',
    ...['one', 'two', 'three'].map((page) => `www.ebi.ac.uk/${page}`),
  ],
  [
    'https://igv.org/app/?file=https://www.encodeproject.org/a.bam,https://www.encodeproject.org/b.bam',
    'igv.org/app/?file=https://www.encodeproject.org/a.bam,https://www.encodeproject.org/b.bam',
  ],
  [
    '[IGV](https://igv.org/app/?file=https://www.encodeproject.org/c.bam;https://www.encodeproject.org/d.bam)',
    'igv.org/app/?file=https://www.encodeproject.org/c.bam;https://www.encodeproject.org/d.bam',
  ],
  [
    '<https://igv.org/five,https://www.encodeproject.org/e.bam>',
    'igv.org/five,https://www.encodeproject.org/e.bam',
  ],
  [
    'https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE147508,https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE147509',
    ...[8, 9].map((end) => `www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE14750${end}`),
  ],
  ...['佐々木', 'Ｔ細胞', 'ﾃｽﾄ', '二〇二〇年', '東京（曖昧さ回避）'].map((title): [string, string] => [
    `https://ja.wikipedia.org/wiki/${title}`,
    `ja.wikipedia.org/wiki/${encodeURIComponent(title)}`,
  ]),
  ['见https://www.ebi.ac.uk/wide（注）', 'www.ebi.ac.uk/wide'],
  ['[x](https://doi.org/10.1036/1097-8542.Bio)', 'doi.org/10.1036/1097-8542.Bio'],
  ['<https://doi.org/10.1036/1097-8543.Bio>', 'doi.org/10.1036/1097-8543.Bio'],
  ['{"doi":"10.1036/1097-8544.Bio"}', 'doi.org/10.1036/1097-8544.Bio'],
  ['https://www.ebi.ac.uk/raised^1^', 'www.ebi.ac.uk/raised'],
  ['https://www.ebi.ac.uk/power^2', 'www.ebi.ac.uk/power'],
  ['https://www.ebi.ac.uk/note[^1]a', 'www.ebi.ac.uk/note'],
  ['https://www.ebi.ac.uk/number[2]and', 'www.ebi.ac.uk/number'],
  ['https://www.ebi.ac.uk/less<5', 'www.ebi.ac.uk/less'],
  ['https://pubmed.ncbi.nlm.nih.gov/32015519的结果', 'pubmed.ncbi.nlm.nih.gov/32015519'],
];

describe('the sources of an answer', () => {
  test('are none in awkward text, and none of the sample answers have any', () => {
    expect(pages(text(AWKWARD))).toEqual([]);
    expect(pages([result(AWKWARD.replaceAll('`', ' ').replace(/wget.*|NCT04280705/g, ''))])).toEqual([]);
    expect(pages(text(sampleReport(60_000)))).toEqual([]);
    for (const name of ['analyst', 'prompt-commands', 'sample-report', 'table-summary'])
      expect(pages(text(readFileSync(`sandbox/agent/${name}.ts`, 'utf8')))).toEqual([]);
  });

  test('are found however they are written, in their order and once', () => {
    const written = fc.shuffledSubarray([...WRITTEN], { minLength: 1, maxLength: 25 });
    const between = fc.constantFrom(', ', '. ', '; see also ', '\n- ', ' (', ') and ', ' | ', '.\n\n');
    fc.assert(
      fc.property(written, between, fc.boolean(), (list, separator, isTwice) => {
        const parts = list.map(([one]) => one);
        const answer = `As shown: ${[...parts, ...(isTwice ? parts : [])].join(separator)}.`;
        expect(pages(text(answer))).toEqual(list.flatMap(([, ...shown]) => shown));
        const apart = `${AWKWARD}\n\n`;
        expect(pages(text(apart + parts.join(`\n\n${apart}`)))).toEqual(
          list.flatMap(([, ...shown]) => shown),
        );
      }),
    );
  });

  test('are one where addresses of a page differ in their scheme, their end, their anchor or who sent the reader', () => {
    const same = [
      'http://nature.com/a/',
      'https://www.nature.com/a#s1',
      'https://www.nature.com/A?utm_source=x&utm_id=1',
    ];
    expect(pages(text(same.join(' ')))).toEqual(['nature.com/a']);
    expect(
      pages(text('https://app.nature.com/#/a https://app.nature.com/#/b https://a.nature.com?x=1')),
    ).toHaveLength(3);
  });

  test('are one for all versions of a work and the pages that show it', () => {
    const preprint = [
      ['10.1101/2020.03.22.002386v1', 'https://doi.org/10.1101/2020.03.22.002386'],
      ['https://www.biorxiv.org/content/10.1101/2020.03.22.002386v2.full'],
      ['https://www.biorxiv.org/content/biorxiv/early/2020/03/25/2020.03.22.002386.full.pdf'],
      ['doi:10.1101/2020.03.22.002386', 'https://doi.org/10.1101/2020.03.22.002386'],
    ];
    const others = [
      ['https://arxiv.org/abs/2001.01234v2'],
      ['https://arxiv.org/pdf/2001.01234v1'],
      ['10.48550/arXiv.2001.01234', 'https://doi.org/10.48550/arXiv.2001.01234'],
    ];
    const nature = [
      ['https://www.nature.com/articles/s41586-020-2012-7'],
      ['https://www.nature.com/articles/s41586-020-2012-7.pdf'],
      ['doi:10.1038/s41586-020-2012-7', 'https://doi.org/10.1038/s41586-020-2012-7'],
    ];
    const plos = [
      ['https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0033693'],
      ['https://journals.plos.org/plosone/article/file?id=10.1371/journal.pone.0033693&type=printable'],
      ['doi:10.1371/journal.pone.0033693', 'https://doi.org/10.1371/journal.pone.0033693'],
    ];
    for (const same of [preprint, others, nature, plos])
      for (const [first = '', link = first] of same) {
        const written = [first, ...same.map(([one]) => one)].join(' and ');
        expect(sourcesOf(text(written)).map(({ url }) => url)).toEqual([link]);
      }
  });

  test('are whole DOIs or none, whatever a DOI holds and whatever it stands in', () => {
    const part = fc.stringMatching(/^[A-Za-z\d]{1,8}(?:[._-][A-Za-z\d]{1,6})?$/);
    const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`));
    const plain = fc
      .tuple(part, part, digits(5), fc.constantFrom('.', '/', '-', ':', '(20)'))
      .map(([one, two, number, mark]) => `${one}${mark}${two}${mark === '(20)' ? '' : '.'}${number}`);
    const sici = fc
      .tuple(
        digits(4),
        digits(3),
        digits(8),
        fc.constantFrom('<>', '[]'),
        part,
        fc.constantFrom('', '-A', '-#'),
      )
      .map(
        ([issn, end, date, [open, close], title, check]) =>
          `${issn}-${end}X(${date})1:2${open}34:${title}${close}3.0.CO;2${check}`,
      );
    const doi = fc
      .tuple(digits(4), fc.oneof(plain, sici))
      .map(([code, suffix]) => `10.1${code.slice(1)}/${suffix}`);
    const html = (one: string) => one.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const form = fc.constantFrom<(one: string) => string>(
      (one) => `in ${one} and`,
      (one) => `(${one})`,
      (one) => `**[${one}](https://doi.org/${one})**`,
      (one) => JSON.stringify({ ids: [one] }).replaceAll('/', '\\/'),
      (one) => `<td>${html(one)}</td>`,
      (one) => `See ${one}. Then`,
      (one) => `"${one}",2020`,
      (one) => `https://doi.org/${encodeURIComponent(one)}`,
    );
    let missed = 0;
    fc.assert(
      fc.property(doi, form, (one, write) => {
        const urls = sourcesOf(text(write(one))).map(({ url }) => decodeURIComponent(url));
        missed += urls.length === 0 ? 1 : 0;
        expect(urls).toEqual(urls.map(() => `https://doi.org/${one}`));
      }),
      { numRuns: 500 },
    );
    expect(missed).toBeLessThan(25);
  });

  test('are read from the columns of delimited tables in results of tools', () => {
    const ends = (content: string) => pages([result(content)]).map((label) => /[^/]+$/.exec(label)?.[0]);
    expect(ends('PMID,Title\n31978945,"In 2020, 1234567 cells"\n32015507,x')).toEqual([
      '31978945',
      '32015507',
    ]);
    expect(ends('2 found\n"rank"\t"PubMed ID"\t"doi"\n1\t31978945\t10.1038/11197')).toEqual([
      '31978945',
      '11197',
    ]);
    expect(ends('pmid\n31978945\n')).toEqual(['31978945']);
    expect(ends('| PMID | Cells |\n|---|---|\n| 31978945 | 1234567 |')).toEqual(['31978945']);
    expect(ends('["pmid",\n"31978945"]')).toEqual([]);
    expect(ends('PMID, title and year:\n31978945')).toEqual([]);
    expect(ends('year,cells\n2020,31978945')).toEqual([]);
  });

  test('are read from lists after one word', () => {
    const answer =
      'PMID 30000000 and 50000 cells; PMIDs: 31978945, 32015507 and 32132184; PDB entries 4HHB, `1MBN`, and 2LYZ; UniProt P04637 or Q8N158.';
    expect(pages(text(answer)).map((label) => /[^/]+$/.exec(label)?.[0])).toEqual([
      '30000000',
      '31978945',
      '32015507',
      '32132184',
      '4HHB',
      '1MBN',
      '2LYZ',
      'P04637',
      'Q8N158',
    ]);
  });

  test('are read from the columns of tables that name the kind of their ids', () => {
    const answer = [
      'UniProt | Cells',
      'P12345 | 31978945',
      '',
      '> | Protein | **UniProt ID** | PDB IDs | PMIDs |',
      '> |---|:-:|---|---|',
      '> | ACE2 P69905 | Q9BYF1 | 6VXX, `1R42` | 20 |',
      '> | p53 4HHB | `P04637` | [1TUP](https://www.rcsb.org/structure/1TUP) | 8346443; 30617256 |',
      '',
      '1MBN | 31978945 | 2LYZ | 32015507',
      '',
      '| Structure (PDB) | PubMed | PMID/DOI | Reference (**PMID**) | Cells (PBMC) |',
      '|---|---|---|---|---|',
      '| 7K3G_A | 32015508 | 32015509 | 32015510 | 32015511 |',
      '| 1200 | 12345 | 10.1038/nature12373 | none | 32015512 |',
    ];
    expect(pages(text(answer.join('\n'))).map((label) => /[^/]+$/.exec(label)?.[0])).toEqual([
      'Q9BYF1',
      '6VXX',
      '1R42',
      'P04637',
      '1TUP',
      '8346443',
      '30617256',
      '7K3G',
      '32015508',
      '32015509',
      '32015510',
      'nature12373',
    ]);
  });

  test('are of the results of tools only ids, after those of the text', () => {
    const json = JSON.stringify({
      pmid: '31978945',
      doi: '10.1016/j.cell.2020.02.058',
      url: 'https://www.cell.com/x',
      links: [
        'https://pubmed.ncbi.nlm.nih.gov/33333333/',
        'https://www.nature.com/articles/y',
        'https://www.ncbi.nlm.nih.gov/snp/rs7412',
      ],
      snps: ['rs429358', 'rs7412'],
      nested: JSON.stringify({ doi: '10.1093/nar/gkaa1100' }),
    });
    const xml =
      '<PMID Version="1">32015507</PMID><ArticleId IdType="doi">10.1038/s41586-020-2649-2</ArticleId>';
    expect(pages([result(json), result(`${xml}\nPMID- 32132184`), ...text('See NCT04280705.')])).toEqual([
      'clinicaltrials.gov/study/NCT04280705',
      'pubmed.ncbi.nlm.nih.gov/31978945',
      'doi.org/10.1016/j.cell.2020.02.058',
      'pubmed.ncbi.nlm.nih.gov/33333333',
      'doi.org/10.1093/nar/gkaa1100',
      'pubmed.ncbi.nlm.nih.gov/32015507',
      'doi.org/10.1038/s41586-020-2649-2',
      'pubmed.ncbi.nlm.nih.gov/32132184',
    ]);
  });

  test('are never half of an id where only the beginning of a result was kept', () => {
    fc.assert(
      fc.property(fc.nat(40), (cut) => {
        const whole = `${' '.repeat(MAX_TOOL_TEXT_LENGTH - cut)}"doi": "10.1016/j.cell.2020.02.058" PMID 31978945`;
        const kept = whole.slice(0, MAX_TOOL_TEXT_LENGTH);
        for (const label of pages([result(kept)]))
          expect(['doi.org/10.1016/j.cell.2020.02.058', 'pubmed.ncbi.nlm.nih.gov/31978945']).toContain(label);
      }),
    );
  });

  test('are links of which people see the whole host', () => {
    fc.assert(
      fc.property(fc.array(webAddress, { maxLength: 5 }), (urls) => {
        for (const { url, label } of sourcesOf(text(urls.map((one) => `<${one}>`).join('\n')))) {
          expect(label.startsWith(new URL(url).host)).toBe(true);
          expect(url.length).toBeLessThanOrEqual(500);
        }
      }),
    );
  });
});

const addressPart = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...'a z A Z 0 9 - . _ ~ ! $ & ( ) * + , ; = : @'.split(' ')),
    anyCharacter.map(encodeURIComponent),
  ),
  maxLength: 12,
});
/** As `fc.webUrl`, which makes a table of all characters. */
const webAddress = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.webAuthority(),
    fc.array(addressPart, { maxLength: 6 }),
    fc.option(addressPart),
    fc.option(addressPart),
  )
  .map(([scheme, host, path, query, fragment]) => {
    const more = `${query === null ? '' : `?${query}`}${fragment === null ? '' : `#${fragment}`}`;
    return `${scheme}://${host}${path.map((part) => `/${part}`).join('')}${more}`;
  });

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';

function state(blocks: readonly ContentBlock[], fields: Partial<DisplayedReply> = {}): DisplayedReply {
  return { turnId, phase: 'done', blocks, elapsedMs: 65_000, notes: [], maxMessages: 12, ...fields };
}

/** The lists of sources in a reply, as people read them. */
function listed(messages: readonly RenderedMessage[]): string[] {
  return messages.flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'rich_text').map(visibleText));
}

const some = 'See PMID 31978945 and NCT04280705.';
const links = (count: number, length = 0) =>
  Array.from({ length: count }, (_, at) => `https://www.nature.com/${at + 1}/${'a'.repeat(length)}`).join(
    ' ',
  );

describe('a finished answer', () => {
  test('of two or more sources ends with their list, and no other answer does', () => {
    const list = 'Sources\n1. PMID 31978945\n2. NCT04280705';
    expect(listed(renderReply(state(text(some))))).toEqual([list]);
    for (const phase of ['working', 'stopping', 'failed', 'cancelled', 'length'] as const)
      expect(listed(renderReply(state(text(some), { phase })))).toEqual([]);
    expect(listed(renderReply(state(text(some), { hideSources: true })))).toEqual([]);
    expect(listed(renderReply(state(text('See PMID 31978945, and again PMID 31978945.'))))).toEqual([]);
  });

  test('lists at most 20 sources and leaves the rest to its steps', () => {
    const blocks = text(links(33));
    const messages = renderReply(state(blocks));
    const [list = ''] = listed(messages);
    expect(list.split('\n').slice(-3)).toEqual([
      '19. www.nature.com/19',
      '20. www.nature.com/20',
      'Press Steps for 13 more sources.',
    ]);
    expect(JSON.stringify(messages)).toContain('"steps"');
    const further = visibleText(furtherSourceBlocks(blocks)).split('\n');
    expect([further.length, further[1], further.at(-1)]).toEqual([
      14,
      '21. www.nature.com/21',
      '33. www.nature.com/33',
    ]);
    expect(JSON.stringify(renderReply(state(text(links(20)))))).not.toContain('"steps"');
    const last = (count: number) =>
      visibleText(furtherSourceBlocks(text(links(count))))
        .split('\n')
        .at(-1);
    expect(last(99)).toBe('99. www.nature.com/99');
    expect(last(200)).toBe('These are the first 100; there may be more in the answer.');
  });

  test('has its list in a message of its own where the last one has no room', () => {
    const ids = Array.from(
      { length: 20 },
      (_, at) => `https://www.a-rather-long-name.org/articles/${at}`,
    ).join(' ');
    const blocks = text(`${'word '.repeat(1_680)}\n\n${ids}`);
    const messages = renderReply(state(blocks));
    expect(messages.map(({ blocks: [first] }) => first?.type)).toEqual(['markdown', 'rich_text']);
    for (const message of messages) checkBlocks(message.blocks, 'message');
  });

  test('keeps its text as it is, within the limits of Slack, and the same however it grew', () => {
    const written = fc.constantFrom(...WRITTEN.map(([one]) => one), links(30, 60), links(2, 450));
    const answer = fc.array(fc.oneof(written, written, markdownArbitrary()), { minLength: 1, maxLength: 8 });
    const steps = fc.array(fc.nat(100), { maxLength: 5 });
    fc.assert(
      fc.property(answer, steps, (parts, places) => {
        const whole = parts.join('\n\n');
        const final = state([...text(whole), result('PMID 31978945')], { maxMessages: 3 });
        const splitter = new AnswerSplitter();
        for (const place of places.toSorted((a, b) => a - b)) {
          const soFar = whole.slice(0, (whole.length * place) / 100);
          splitter.recordGrowth(soFar);
          renderReply({ ...final, phase: 'working', blocks: text(soFar) }, splitter);
        }
        splitter.recordGrowth(whole);
        while (renderNextMessage(final, splitter));
        const messages = renderReply(final, splitter);
        expect(messages).toEqual(renderReply({ ...final, blocks: [...final.blocks] }));
        for (const message of messages) checkBlocks(message.blocks, 'message');
        const shownOf = (of: readonly RenderedMessage[]) =>
          of.flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'markdown'));
        expect(shownOf(messages)).toEqual(shownOf(renderReply({ ...final, hideSources: true })));
        const sources = sourcesOf(final.blocks);
        expect(listed(messages)).toHaveLength(sources.length < 2 ? 0 : 1);
      }),
      { numRuns: 15 },
    );
  });
});

describe('the labels of sources', () => {
  test.each([
    ['PMID: 16990137 and https://pubmed.ncbi.nlm.nih.gov/31978945/', ['PMID 16990137', 'PMID 31978945']],
    ['`GSE32986`, NCT04280705, PMC7054408', ['GSE32986', 'NCT04280705', 'PMC7054408']],
    ['https://doi.org/10.1038/nature12373, 10.1101/123456', ['10.1038/nature12373', '10.1101/123456']],
    ['arXiv:2103.01234, PDB 6LZG_A', ['arXiv:2103.01234', 'PDB 6LZG']],
    ['UniProt P04637 and ClinVar Variation ID 12345', ['UniProt P04637', 'ClinVar 12345']],
    // Where a link leads is not hidden behind an id.
    ['https://evil.org/10.1038/nature12373 and NCT04280705', ['evil.org/10.1038/nature12373', 'NCT04280705']],
  ])('of %s are what people call them', (answer, expected) => {
    expect(labels(text(answer))).toEqual(expected);
  });
});

describe('an answer that numbers its own references', () => {
  const numbered = (answer: string) =>
    sourcesOf(text(answer)).map(({ number, label }) => `${number}. ${label}`);

  test.each([
    [
      '[1] A. PMID 16990137\n[2] B. A textbook.\n[3] C. NCT04280705\n\nSee GSE32986.',
      ['1. PMID 16990137', '3. NCT04280705', '4. GSE32986'],
    ],
    [
      'GSE32986.\n\n## References\n1. A, PMID 16990137,\n   10.1038/nature12373\n2. NCT04280705',
      ['1. PMID 16990137', '1. 10.1038/nature12373', '2. NCT04280705', '3. GSE32986'],
    ],
    [
      'GSE32986.\n\n**Literaturverzeichnis:**\n\n1. PMID 16990137\n2. NCT04280705',
      ['1. PMID 16990137', '2. NCT04280705', '3. GSE32986'],
    ],
    [
      'GSE32986.\n\n参考文献\n\n1. PMID 16990137\n2. NCT04280705',
      ['1. PMID 16990137', '2. NCT04280705', '3. GSE32986'],
    ],
    [
      'GSE32986.\n\n1. A title.\n\n   PMID 16990137\n\n2. Another title.\n\n   NCT04280705\n\nSee PMC7054408.',
      ['1. PMID 16990137', '2. NCT04280705', '3. GSE32986', '4. PMC7054408'],
    ],
    ['As in [2, 3].\n\nGelesen:\n\n2. PMID 16990137\n3. NCT04280705', ['2. PMID 16990137', '3. NCT04280705']],
    [
      'So [2](https://www.ebi.ac.uk/a) and [[1]](https://www.ebi.ac.uk/b).',
      ['1. www.ebi.ac.uk/b', '2. www.ebi.ac.uk/a'],
    ],
    [
      'Later NCT04280705 again.\n\n[^1]: NCT04280706\n[^2]: NCT04280705',
      ['1. NCT04280706', '2. NCT04280705'],
    ],
    ['Steps:\n\n2. Read it.\n3. Read on.\n\nNCT04280705 and GSE32986', ['1. NCT04280705', '2. GSE32986']],
  ])('%j keeps its numbers', (answer, expected) => {
    expect(numbered(answer)).toEqual(expected);
  });
});
