import { readFileSync } from 'node:fs';
import shapes from 'lucide-static/icon-nodes.json' with { type: 'json' };
import lucide from 'lucide-static/package.json' with { type: 'json' };

/** Icons of the dashboard by their names in Lucide. */
const NAMES = [
  'arrow-right',
  'ban',
  'book-open',
  'bot',
  'check',
  'chevron-right',
  'clipboard-check',
  'clock',
  'house',
  'inbox',
  'laptop',
  'log-out',
  'network',
  'plus',
  'scroll-text',
  'settings',
  'shield',
  'triangle-alert',
  'user',
] as const;

/** Returns the module with the shapes of the icons that are used. */
export function iconsModule(): string {
  const lines = NAMES.map((name) => `  ${JSON.stringify(name)}: ${JSON.stringify(shapes[name])},`);
  return `// Made from lucide-static by \`npm run build\` (web/icons.ts).
export const ICONS = {
${lines.join('\n')}
} as const;
`;
}

/** Returns the terms of the icons, which are built in by this module and by no import, in the form of the bundler. */
export function iconsLicense(): string {
  const text = readFileSync(new URL('LICENSE', import.meta.resolve('lucide-static/package.json')), 'utf8');
  return `## lucide-static - ${lucide.version} (${lucide.license})\n\n${text}`;
}
