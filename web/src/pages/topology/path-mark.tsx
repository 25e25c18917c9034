import type { PathKind } from './model.ts';

const DASH: Readonly<Record<PathKind, string>> = { direct: '', relayed: '8 5', failed: '2 4', none: '' };

const NAMES: Readonly<Record<PathKind, string>> = {
  direct: 'direct',
  relayed: 'relayed',
  failed: 'no path',
  none: 'no path reported',
};

/** How a line is drawn, and what it means, in a word. */
export function PathMark({ kind }: { kind: PathKind }) {
  return (
    <span class={`path-mark ${kind}`}>
      <svg width="28" height="8" aria-hidden="true">
        <line x1="0" y1="4" x2="28" y2="4" stroke-width={kind === 'none' ? 1 : 3} stroke-dasharray={DASH[kind]} />
      </svg>
      {NAMES[kind]}
    </span>
  );
}
