import './own-imports.ts';
import fc from 'fast-check';

// The same cases in every run, so that a failure can be had again; FC_SEED=<number> tries others.
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 18) });
