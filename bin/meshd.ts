import { enableCompileCache } from 'node:module';

// Before anything else is loaded: what was compiled and stripped of types once is kept for the next start.
enableCompileCache();
await import('../cli/meshd-command.ts');
