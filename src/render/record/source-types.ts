/** Addresses of articles: DOIs but for those below, PubMed, PMC, preprints. */
const ARTICLE =
  /^https:\/\/(?:doi\.org\/10\.|pubmed\.ncbi\.nlm\.nih\.gov\/\d|(?:www\.)?pmc\.ncbi\.nlm\.nih\.gov\/articles\/|europepmc\.org\/|arxiv\.org\/abs\/|www\.(?:bio|med)rxiv\.org\/content\/)/;
/** DOIs of PDB, PANGAEA, Dryad, Zenodo, CCDC, figshare, Dataverse and Mendeley Data. */
const DATA_DOI = /^https:\/\/doi\.org\/10\.(?:2210|1594|5061|5281|5517|6084|7910|17632)\//;
/** GEO, SRA, BioProject, dbSNP and ClinVar; then what is named. */
const DATABASE =
  /^https:\/\/(?:www\.ncbi\.nlm\.nih\.gov\/(?:geo|sra|bioproject|snp|clinvar)\/|www\.ebi\.ac\.uk\/(?:biostudies|chembl|ena|pride)\/|proteomecentral\.proteomexchange\.org\/|www\.rcsb\.org\/structure\/|www\.uniprot\.org\/uniprotkb\/|www\.ensembl\.org\/id\/)/;

/** What schema.org calls the page of a source. */
export function sourceType(url: string): 'ScholarlyArticle' | 'Dataset' | 'WebPage' {
  if (DATA_DOI.test(url) || DATABASE.test(url)) return 'Dataset';
  return ARTICLE.test(url) ? 'ScholarlyArticle' : 'WebPage';
}
