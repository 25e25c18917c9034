import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { View } from '../../mcp/surface.ts';
import { MCP_VIEWS } from '../../tools/surfaces.ts';

/** Made by `npm run build`. */
const BUILT = path.join(import.meta.dirname, '..', '..', 'web', 'dist', 'views');

/** Returns the views that clients with MCP Apps show beside answers. */
export function readViews(): View[] {
  return MCP_VIEWS.map((view) => {
    const file = path.join(BUILT, `${view.name}.html`);
    if (!existsSync(file)) throw new Error('The views of MCP clients are not built: run npm run build.');
    return { ...view, html: readFileSync(file, 'utf8') };
  });
}
