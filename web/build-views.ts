import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Rolldown } from 'vite';
import { MCP_VIEWS, type ViewOfTools } from '../tools/surfaces.ts';

const WEB = import.meta.dirname;
/** Bytes of one view: a host fetches it whole before it shows anything. */
const MAX_VIEW_BYTES = 150_000;

/** Builds what clients of MCP show beside answers, into a folder: each view is one document that asks for nothing else. */
export async function buildViews(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const view of MCP_VIEWS) {
    const html = documentOf(view, await bundled(view.name));
    const size = Buffer.byteLength(html);
    if (size > MAX_VIEW_BYTES) throw new Error(`The view ${view.name} has ${size} bytes, of ${MAX_VIEW_BYTES}.`);
    await writeFile(path.join(folder, `${view.name}.html`), html);
  }
}

interface Bundle {
  readonly script: string;
  readonly style: string;
}

async function bundled(name: string): Promise<Bundle> {
  const built = await build({
    root: WEB,
    configFile: path.join(WEB, 'vite.config.ts'),
    logLevel: 'warn',
    build: {
      write: false,
      cssCodeSplit: false,
      rolldownOptions: { input: path.join(WEB, 'src', 'views', `${name}.tsx`), output: { format: 'iife' } },
    },
  });
  const { output } = (Array.isArray(built) ? built[0] : built) as Rolldown.RolldownOutput;
  const scripts = output.flatMap((file) => (file.type === 'chunk' ? [file.code] : []));
  const styles = output.flatMap((file) => (file.type === 'asset' ? [String(file.source)] : []));
  const [[script, ...more], [style = '', ...others]] = [scripts, styles];
  if (script === undefined || more.length > 0 || others.length > 0) throw new Error(`${name} is not one file.`);
  return { script: inline(script), style: style.trim() };
}

/** As the text of an element: nothing in it may end the element, or begin a comment. */
function inline(script: string): string {
  return script.trim().replaceAll(/<(?=!--|\/?script)/gi, '\\x3c');
}

/** With a policy of its own besides that of the host: what is in the document runs, and it asks nobody for anything. */
function documentOf({ title }: ViewOfTools, { script, style }: Bundle): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<script>${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
