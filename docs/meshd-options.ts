import { environment } from '../bin/compose/config.ts';
import { PARTS } from '../bin/compose/single-part.ts';
import { buildMeshd } from '../cli/meshd-command.ts';

const nothing = () => Promise.reject(new Error('no command runs here'));

/** `meshd` as its help shows it, which starts nothing. */
export const MESHD = buildMeshd({
  version: '',
  parts: PARTS,
  defaultConfigDir: '~/.meshd',
  variables: Object.keys(environment.shape),
  start: nothing,
  loadStoreFiles: nothing,
  loadEndApproval: nothing,
  loadResetPassword: nothing,
  loadStoreCopies: nothing,
  loadMakeKeysFile: nothing,
  loadBusConfig: nothing,
  loadDoctor: nothing,
});
