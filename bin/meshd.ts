import { runMeshd } from '../cli/meshd-command.ts';
import { DEFAULT_CONFIG_DIR, environment } from './compose/config.ts';
import { startMeshd } from './compose/meshd.ts';
import { PARTS } from './compose/single-part.ts';
import { VERSION } from './compose/version.ts';

await runMeshd({
  version: VERSION,
  parts: PARTS,
  defaultConfigDir: DEFAULT_CONFIG_DIR,
  variables: Object.keys(environment.shape),
  start: startMeshd,
  loadDoctor: async () => (await import('./compose/doctor/doctor.ts')).examine,
  loadEndApproval: async () => (await import('./compose/end-approval.ts')).endApprovalOnHost,
  loadResetPassword: async () => (await import('./compose/reset-password.ts')).resetPasswordOnHost,
  loadStoreCopies: async () => (await import('./compose/copy-store.ts')).storeCopies,
  loadMakeKeysFile: async () => (await import('../storage/credentials.ts')).makeKeysFile,
  loadBusConfig: async () => (await import('./compose/bus-config.ts')).writeBusConfig,
  loadStoreFiles: async () => (await import('./compose/store-files.ts')).storeFiles,
});
