import { enableCompileCache } from 'node:module';

// Before anything else is loaded: what was compiled and stripped of types once is kept for the next start.
enableCompileCache();
const [{ runMeshd }, { PARTS }, { DEFAULT_CONFIG_DIR }, { startMeshd }, { VERSION }] = await Promise.all([
  import('../cli/meshd-command.ts'),
  import('./compose/alone.ts'),
  import('./compose/config.ts'),
  import('./compose/meshd.ts'),
  import('./compose/version.ts'),
]);
await runMeshd({ version: VERSION, parts: PARTS, defaultConfigDir: DEFAULT_CONFIG_DIR, start: startMeshd });
