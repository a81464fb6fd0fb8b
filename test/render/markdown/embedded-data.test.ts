import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { withoutEmbeddedData } from '../../../src/render/markdown/embedded-data.ts';
import { withinMs } from '../../support/busy-machine.ts';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(30_000)]);
const base64 = png.toString('base64');
const wrapped = base64.replace(/.{76}/g, '$&\n');
const uri = `data:image/png;base64,${base64}`;
const svg = `data:image/svg+xml;charset=utf-8,${'%3Cpath%20d%3D'.repeat(40)}`;
const pdf = `data:application/pdf;base64,${randomBytes(3_000).toString('base64')}`;
const binary = `\u0000A1z${'ab1Z+/'.repeat(500)}`;

describe('what nobody reads as text has a word in its place', () => {
  test.each([
    [
      'an image',
      `A plot: ![volcano](${uri})\n\nIt shows two genes.`,
      'A plot: volcano (picture)\n\nIt shows two genes.',
    ],
    ['an image without a label', `![](${uri}) Two genes.`, '(picture) Two genes.'],
    ['an image with a title', `![v](<${uri}> "V") Two.`, 'v (picture) Two.'],
    ['a link', `See [the plot](${uri}).`, 'See the plot (picture).'],
    ['a file', `See [the report](${pdf}).`, 'See the report (file).'],
    ['HTML', `<p><img alt="v" src="${uri}" width="3"/>\n</p>\nTwo genes.`, '<p>(picture)\n</p>\nTwo genes.'],
    ['CSS', `background: url('${uri}');`, "background: url('(picture)');"],
    ['a bare address', `It is ${uri} and more.`, 'It is (picture) and more.'],
    ['a picture that is no base64', `It is ${svg} and more.`, 'It is (picture) and more.'],
    ['an address of many lines', `![v](data:image/png;base64,${wrapped})\nTwo.`, 'v (picture)\nTwo.'],
    ['a definition', `![v][1]\n\n[1]: ${uri}\n\nTwo.`, '![v][1]\n\n[1]: (picture)\n\nTwo.'],
    [
      'the lines of a tool',
      `Here:\n\n\`\`\`\n${wrapped}\n\`\`\`\nTwo genes.`,
      'Here:\n\n```\n(picture)\n```\nTwo genes.',
    ],
    ['one long line', `${base64}\nTwo genes.`, '(picture)\nTwo genes.'],
    ['quoted lines', `> ${wrapped.replaceAll('\n', '\n> ')}\n\nTwo.`, '> (picture)\n\nTwo.'],
    ['JSON', `{"png": "${wrapped.replaceAll('\n', '\\n')}"}`, '{"png": "(picture)"}'],
    ['an unknown file', Buffer.from(binary).toString('base64'), '(file)'],
    [
      'colours',
      '\u001B[1;31mERROR\u001B[0m: no \u001B]8;;https://a.example\u0007page\u001B]8;;\u0007',
      'ERROR: no page',
    ],
    ['half a colour', 'Warning\u001B[', 'Warning'],
  ])('in %s', (_, text, expected) => {
    expect(withoutEmbeddedData(text)).toBe(expected);
  });

  test('as early as there is too much of it, however it grows', () => {
    const text = `Here:\n\n![v](${uri})\n\nTwo genes.`;
    for (let length = 400; length < text.indexOf(')'); length += 997)
      expect(withoutEmbeddedData(text.slice(0, length))).toBe('Here:\n\nv (picture)');
    for (let length = 2_100; length < wrapped.length; length += 997)
      expect(withoutEmbeddedData(wrapped.slice(0, length)).length).toBeLessThan(90);
  });
});

const letters = (alphabet: string, length: number) =>
  Array.from({ length }, (_, at) => alphabet[(at * at + 7 * at) % alphabet.length]).join('');
const lines = (text: string) => text.replace(/.{60}/g, '$&\n');

describe('what people read stays as it is', () => {
  test.each([
    ['a short example', 'Write data:text/plain;base64,SGVsbG8= there.'],
    ['the word alone', `The metadata: ${'a long list, '.repeat(50)}`],
    ['DNA', `>seq\n${lines(letters('ACGT', 6_000))}`],
    ['soft-masked DNA', `>seq\n${lines(letters('ACGTacgtNn', 6_000))}`],
    ['a protein', `>sp\n${lines(letters('ACDEFGHIKLMNPQRSTVWY', 6_000))}`],
    ['hashes', Array.from({ length: 60 }, () => randomBytes(32).toString('hex')).join('\n')],
    ['a CIGAR string', '76M2I4D'.repeat(600)],
    ['an address', `https://host.example/${'Aa1/Bb2/'.repeat(100)}`],
    ['a public key', randomBytes(600).toString('base64').replace(/.{64}/g, '$&\n')],
  ])('%s', (_, text) => {
    expect(withoutEmbeddedData(text)).toBe(text);
  });

  test('the lines below base64', () => {
    const below = '\n10 plots were made.\nDone';
    expect(withoutEmbeddedData(`${'q8Zb'.repeat(19)}\n`.repeat(40).trimEnd() + below)).toBe(`(file)${below}`);
  });

  test('in a time that grows with the text alone', () => {
    for (const unit of [
      '<img ',
      '![a](data:',
      'data:image/png;base64,',
      `${'Aa1'.repeat(19)} `,
      `${'Aa1'.repeat(30)}\n `,
    ]) {
      const text = unit.repeat(1_000_000 / unit.length);
      const startedAt = performance.now();
      withoutEmbeddedData(text);
      expect(performance.now() - startedAt).toBeLessThan(withinMs(3_000));
    }
  });
});
