import type { AgentTurn } from './agent-script.ts';
import { writeLikeModel } from './sample-report.ts';

interface Reference {
  /** As it stands in a list of references, before its id. */
  work: string;
  id: string;
}

/** What it cites, and what it cites once somebody finds fault with that. 10.5555 is the prefix that Crossref keeps for examples. */
const REFERENCES: readonly (Reference & { instead?: Reference })[] = [
  {
    work: 'Lindqvist A, Rossi P. Edge effects in plates of 96 wells. 2016.',
    id: 'doi:10.5555/plates.2016.96',
  },
  {
    work: 'Abe K, Rossi P. Bleaching of reference dyes under bright light. 2014.',
    id: 'doi:10.5555/dyes.2014.7',
    instead: {
      work: 'Okafor N. Reference dyes that keep their signal. 2021.',
      id: 'doi:10.5555/dyes.2021.12',
    },
  },
  { work: 'Novak J. Errors of pipetting robots, and their causes. 2018.', id: 'doi:10.5555/robots.2018.3' },
  {
    work: 'Meyer F. One scale of signals for all laboratories. 2020.',
    id: 'doi:10.5555/scales.2020.404',
    instead: {
      work: 'Meyer F, Silva T. Scales of signals, compared in four laboratories. 2019.',
      id: 'doi:10.5555/scales.2019.2',
    },
  },
  {
    work: 'Haddad L. Drift of plate readers during long runs. 2022.',
    id: 'doi:10.5555/preprints.2022.58',
    instead: {
      work: 'Haddad L. Drift of plate readers during long runs. 2023.',
      id: 'doi:10.5555/readers.2023.9',
    },
  },
  { work: 'Tran H. A description of the assay. 2006.', id: 'PMID: 16990137' },
];

/** Writes an answer with references of which registries know different things. */
export async function writeReferences(turn: AgentTurn): Promise<void> {
  await writeLikeModel(
    turn,
    `The signal depends on the well [1], the dye [2] and the robot [3]. It can be compared between laboratories [4], if the reader is checked for drift [5]. The assay is described in [6].\n\n${listOf(REFERENCES)}`,
  );
}

/** Cites something else in the place of each reference that the message complains about; whether it does so of any. */
export async function replaceReferences(turn: AgentTurn): Promise<boolean> {
  const isFaulty = ({ id }: Reference) => turn.text.includes(`\n- ${id.replace('doi:', '')}: `);
  const faulty = REFERENCES.filter((reference) => reference.instead !== undefined && isFaulty(reference));
  if (faulty.length === 0) return false;
  const numbers = faulty.map((reference) => `[${REFERENCES.indexOf(reference) + 1}]`).join(', ');
  const replaced = REFERENCES.map((reference) => (isFaulty(reference) && reference.instead) || reference);
  await writeLikeModel(turn, `I cite other works for ${numbers}. What I said stays.\n\n${listOf(replaced)}`);
  return true;
}

function listOf(references: readonly Reference[]): string {
  const lines = references.map(({ work, id }, at) => `${at + 1}. ${work} ${id}`);
  return `## References\n\n${lines.join('\n')}\n`;
}
