/** Typical agent output: prose, lists, tables and code. */
const SECTIONS = [
  '## What the samples show\n\nThe **third** sample differs from the others, see `run_18` and [the paper](https://example.org/paper). '.repeat(
    3,
  ),
  '\n\n1. first finding, with *some* weight\n   - a detail of it\n   - and one more\n2. second finding\n\n',
  `| gene | change | p |\n| :--- | ---: | ---: |\n${'| BRCA1 | 2.4 | 0.003 |\n'.repeat(20)}\n`,
  `\`\`\`python\n${'value = compute(table["gene"], 18)\n'.repeat(15)}\`\`\`\n\n`,
  '> It holds that \\(p < 0.05\\), as 表**重要。**的 says.\n\n- [x] read\n- [ ] checked\n\n---\n\n',
];
const SECTION = SECTIONS.join('');

/** A Markdown answer of exactly this many characters. No two of its sections are the same, so no cache helps. */
export function markdownAnswer(characters: number): string {
  const sections = Array.from({ length: Math.ceil(characters / SECTION.length) }, (_, index) =>
    SECTION.replaceAll('18', String(index + 100)).replaceAll('2.4', `2.${index + 100}`),
  );
  return sections.join('').slice(0, characters);
}
