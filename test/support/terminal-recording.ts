import type { Page } from 'playwright-core';
import { Recording } from './recording.ts';
import { Terminal } from './terminal.ts';

const COLUMNS = 118;
/** Lines that a picture shows: the last ones, as a terminal does. */
const ROWS = 34;
const FRAME_INTERVAL_MS = 200;
/** Colours of a dark terminal, by the SGR code that begins them. */
const STYLES: Readonly<Record<string, string>> = {
  1: 'font-weight:bold',
  2: 'opacity:.6',
  31: 'color:#ff7b72',
  32: 'color:#7ee787',
  33: 'color:#f2cc60',
  34: 'color:#79c0ff',
  35: 'color:#d2a8ff',
  36: 'color:#76e3ea',
};
const PAGE_STYLE =
  'margin:0;padding:14px 18px;background:#0d1117;color:#e6edf3;font:13px/19px "DejaVu Sans Mono",monospace;height:646px;overflow:hidden';

/** Runs a program in a terminal; returns an animated GIF of what it prints, in colour. It must not move the cursor. */
export async function recordTerminal(
  page: Page,
  args: string[],
  cwd: string,
): Promise<{ gif: Uint8Array; exitCode: number }> {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, TERM: 'xterm-256color' };
  const terminal = new Terminal(process.execPath, args, { cwd, env, columns: COLUMNS });
  const recording = new Recording(page);
  let exitCode: number | undefined;
  void terminal.ended.then((code) => {
    exitCode = code;
  });
  do {
    await new Promise((resolve) => setTimeout(resolve, FRAME_INTERVAL_MS));
    const lines = terminal.output.trimEnd().split(/\r?\n/).slice(-ROWS);
    await page.setContent(
      `<body style="margin:0"><pre style='${PAGE_STYLE}'>${htmlOf(lines.join('\n'))}</pre>`,
    );
    await recording.take();
  } while (exitCode === undefined);
  return { gif: recording.gif(), exitCode };
}

/** Coloured text as HTML: a code without a style of its own ends the style that began last. */
function htmlOf(text: string): string {
  const [plain = '', ...styled] = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').split('\u001B[');
  const parts = styled.map((part) =>
    part.replace(/^(\d+)m/, (_, code: string) => {
      const style = STYLES[code];
      return style === undefined ? '</span>' : `<span style="${style}">`;
    }),
  );
  return plain + parts.join('');
}
