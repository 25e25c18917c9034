import fc from 'fast-check';

/** The same samples on every run, so that a green run says the same everywhere; MESH_TEST_SEED tries others. */
const seed = Number(process.env['MESH_TEST_SEED'] ?? 20_261_121);

fc.configureGlobal({ seed });
