import type { ComponentChildren } from 'preact';
import { pairsText } from '../reach/ports.ts';

export type EffectSide = 'opens' | 'closes';

export const EFFECT_SIDES: Record<EffectSide, string> = { opens: 'Opens', closes: 'Closes' };

/** A side of an effect as a shape and a word. */
export function EffectWord({ kind }: { kind: EffectSide }) {
  return (
    <>
      <span aria-hidden="true">{kind === 'opens' ? '▶' : '▷̸'}</span> {EFFECT_SIDES[kind]}
    </>
  );
}

interface EffectSectionProps {
  readonly kind: EffectSide;
  readonly pairs: number;
  /** Pairs with addresses outside. */
  readonly outside: number;
  readonly isEmpty: boolean;
  readonly children: ComponentChildren;
}

export function EffectSection({ kind, pairs, outside, isEmpty, children }: EffectSectionProps) {
  return (
    <section class={`effect ${kind}`} aria-label={EFFECT_SIDES[kind]}>
      <h3>
        <EffectWord kind={kind} />
        <span class="push">
          {pairsText(pairs)}
          {outside > 0 && `, ${outside} with addresses outside`}
        </span>
      </h3>
      {isEmpty && <p class="dim">Nothing.</p>}
      {children}
    </section>
  );
}
