import { isBuiltin, registerHooks } from 'node:module';

const OWN_FILE = /^\.\.?\/.*\.ts$/;

// Our own imports are the files that they name. Vitest's hook would look each up, and report it to the main process; so it
// would `net`, which `pg` requires for each connection.
registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    if (parentURL !== undefined && OWN_FILE.test(specifier))
      return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
    if (isBuiltin(specifier))
      return { url: `node:${specifier.replace(/^node:/, '')}`, format: 'builtin', shortCircuit: true };
    return next(specifier, context);
  },
});
