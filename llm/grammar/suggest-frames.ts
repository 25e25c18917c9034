import type { PortEntry } from '../../core/model/policy.ts';
import type { Sym, Token } from './lexicon.ts';
import { said } from './refusal.ts';
import { isIdle } from './suggest-atoms.ts';
import { type Clause, symOf, textOf } from './suggest-clauses.ts';
import type { Frame, Group, Side } from './suggest-frame.ts';
import {
  BEFORE_VERBS,
  COUNTS,
  CUES,
  IMPERATIVE,
  NEGATIONS,
  OTHERS_LIKE,
  POLARITY,
  QUIET,
  RESTRICTING,
  RESTRICTING_WORDS,
  STRENGTH,
} from './suggest-words.ts';

/** Reads a clause from left to right; a word decides about what follows it. */
export function frameOf(clause: Clause): Frame {
  const text = said(clause.flatMap(({ tokens }) => tokens));
  const frame: Frame = { text, sources: [], targets: [], ports: [], spared: [], lost: [], unknown: [] };
  const reader = new Reader(clause, frame);
  reader.read();
  return frame;
}

class Reader {
  readonly #atoms: Clause;
  readonly #frame: Frame;
  #cue: Sym | undefined;
  #only: Token | undefined;
  #nobody = false;
  #negations = 0;
  #passive = false;
  #except: Token | undefined;
  #last: Group | undefined;

  constructor(atoms: Clause, frame: Frame) {
    this.#atoms = atoms;
    this.#frame = frame;
  }

  read(): void {
    for (let at = 0; at < this.#atoms.length; ) at = this.#next(at);
    const frame = this.#frame;
    if (this.#only) frame.lost.push(this.#only);
    if (this.#except) frame.lost.push(this.#except);
    if (this.#nobody && frame.only !== 'source') frame.sources.push({ says: 'everyone', ports: [] });
    if (this.#negations > 1 && !frame.elseClosed)
      frame.lost.push(...this.#atoms.flatMap((atom) => (NEGATIONS.has(symOf(atom) ?? 'AND') ? atom.tokens : [])));
  }

  #next(at: number): number {
    const atom = this.#atoms[at];
    if (atom?.kind === 'who') return this.#who(at);
    if (atom?.kind === 'ports') this.#ports(atom.ports, at);
    else if (atom?.kind === 'time') this.#frame.time = atom.says;
    else if (atom) this.#word(atom.word, at);
    return at + 1;
  }

  #ports(ports: readonly PortEntry[], at: number): void {
    const frame = this.#frame;
    const before = this.#atoms[at - 1];
    if (this.#cue === 'INSTEAD_OF') {
      frame.old = { ports };
      return;
    }
    // Ports beside who reaches are theirs, and no policy knows those.
    if (before?.kind === 'who' && this.#last && frame.sources.includes(this.#last) && frame.polarity !== undefined)
      frame.lost.push(...before.tokens);
    if (this.#except) {
      frame.spared.push({ ports });
      this.#except = undefined;
    } else if (this.#only && this.#atoms.slice(at).every(({ kind }) => kind !== 'who')) {
      frame.only = 'ports';
      this.#only = undefined;
      frame.ports.push(...ports);
    } else if (this.#last && frame.targets.includes(this.#last) && this.#cue !== 'BY') this.#last.ports.push(...ports);
    else frame.ports.push(...ports);
  }

  #who(start: number): number {
    const names: string[] = [];
    let at = start;
    for (;;) {
      const atom = this.#atoms[at];
      if (atom?.kind !== 'who') break;
      names.push(atom.says);
      at++;
      let next = at;
      while (['AND', 'COMMA', 'OR'].includes(symOf(this.#atoms[next]) ?? '')) next++;
      if (next === at || this.#atoms[next]?.kind !== 'who') break;
      at = next;
    }
    const says = names.join(' and ');
    const everything =
      names[0] === 'everyone' &&
      ['anything', 'everything', 'all', 'any'].includes(this.#atoms[start]?.tokens.at(-1)?.text ?? '');
    const [next, after] = [this.#atoms[at], this.#atoms[at + 1]];
    // "Anything on db-1", "deny all but 443": what, not whom.
    const isWhat = everything && AFTER_WHAT.has(symOf(this.#atoms[at]) ?? 'AND');
    if (isWhat || (everything && ['NEEDS', 'DENY', 'CLOSE', 'REVOKE', 'LET'].includes(this.#cue ?? ''))) {
      if (symOf(next) === 'EXCEPT' && after?.kind === 'ports')
        this.#frame.sources.push({ says: 'everyone', ports: [] });
      return at;
    }
    if (symOf(next) === 'EXCEPT' && after?.kind === 'who' && !this.#except) {
      const left: string[] = [];
      let end = at + 1;
      for (;;) {
        const atom = this.#atoms[end];
        if (atom?.kind !== 'who') break;
        left.push(atom.says);
        end++;
        let then = end;
        while (['AND', 'COMMA', 'OR'].includes(symOf(this.#atoms[then]) ?? '')) then++;
        if (then === end || this.#atoms[then]?.kind !== 'who') break;
        end = then;
      }
      this.#place({ says: `${says} except ${left.join(' and ')}`, ports: [] });
      return end;
    }
    this.#place({ says, ports: [] });
    return at;
  }

  #place(group: Group): void {
    const frame = this.#frame;
    const cue = this.#cue;
    this.#cue = undefined;
    if (
      this.#except ||
      (frame.spared.length > 0 &&
        (frame.targets.length > 0 || frame.isolated !== undefined) &&
        (cue === 'FROM' || cue === 'TO' || cue === 'BY' || cue === 'FOR'))
    ) {
      if (this.#nobody && !frame.sources.length) {
        frame.only = 'source';
        frame.sources.push(group);
      } else {
        const open = frame.spared.at(-1);
        const side =
          cue === 'TO' || cue === 'ON' || cue === 'REACH'
            ? 'target'
            : cue === 'FROM' || cue === 'BY' || cue === 'FOR'
              ? 'source'
              : undefined;
        if (open && open.who === undefined && !this.#except) Object.assign(open, { who: group.says, side });
        else frame.spared.push({ who: group.says, side, ports: [] });
      }
      this.#except = undefined;
      return;
    }
    if (cue === 'INSTEAD_OF') {
      frame.old = { side: this.#last && frame.targets.includes(this.#last) ? 'target' : 'source', says: group.says };
      return;
    }
    const side = this.#sideOf(cue);
    if (side === 'isolated') {
      frame.isolated = group.says;
      return;
    }
    if (this.#only) {
      frame.only = side;
      this.#only = undefined;
    }
    frame[side === 'source' ? 'sources' : 'targets'].push(group);
    this.#last = group;
    if (cue === 'BETWEEN') frame.mutual = true;
  }

  #sideOf(cue: Sym | undefined): Side | 'isolated' {
    const { sources, targets, polarity } = this.#frame;
    if ((cue === 'ISOLATE' || cue === 'LOCK') && polarity === 'isolate') return 'isolated';
    if (cue === 'FROM')
      return polarity === 'close' && (sources.length > 0 || this.#frame.pronoun) && targets.length === 0
        ? 'target'
        : 'source';
    if (cue === 'BY') return 'source';
    if (cue === 'FOR') return targets.length > 0 || polarity === 'keep' ? 'source' : 'target';
    if (
      cue === 'TO' ||
      cue === 'ARROW' ||
      cue === 'REACH' ||
      cue === 'REACHING' ||
      cue === 'TALK' ||
      cue === 'ON' ||
      cue === 'OF' ||
      cue === 'LIMIT'
    )
      return 'target';
    return sources.length === 0 && !this.#passive ? 'source' : 'target';
  }

  #word(word: Token, at: number): void {
    const { sym, text } = word;
    const frame = this.#frame;
    if (sym === undefined) {
      this.#plain(word, at);
      return;
    }
    if (sym === 'NOT' && this.#atoms.slice(at).some((atom) => textOf(atom) === 'change')) {
      frame.elseStays = true;
      return;
    }
    const isOther = /other/.test(text) || /^(?:every|no)? ?other$/.test(textOf(this.#atoms[at + 1]));
    if (sym === 'NO' && isOther) {
      frame.elseClosed = true;
      return;
    }
    if (sym === 'MAY_NOT' && text.startsWith('can not')) frame.report = true;
    // "But never 22", "let a reach b, not c": what is left out, and not the whole.
    if (sym === 'NOT' && this.#except) return;
    if (frame.imperative && frame.polarity === 'open' && DENIALS.has(sym)) frame.lost.push(word);
    if (NEGATIONS.has(sym)) this.#negations++;
    if (IMPERATIVE.has(sym)) frame.imperative = true;
    const next = POLARITY[sym];
    if (next && (!frame.polarity || STRENGTH.indexOf(next) > STRENGTH.indexOf(frame.polarity))) frame.polarity = next;
    if (sym === 'ACCEPT' || sym === 'REACHABLE' || sym === 'UNREACHABLE') this.#turn();
    if (sym === 'ONLY') this.#only = word;
    else if (sym === 'EXCEPT') this.#except = word;
    else if (sym === 'NOBODY') this.#nobody = true;
    else if (sym === 'MUTUAL') frame.mutual = true;
    else if (sym === 'INCOMING') frame.incoming = true;
    else if (sym === 'OUTGOING') frame.outgoing = true;
    else if (sym === 'VAGUE_TIME') frame.time ??= '';
    else if (OTHERS_LIKE.has(word.text)) frame.lost.push(word);
    else if (sym === 'PRONOUN' || sym === 'LAST_CHANGE') frame.pronoun = true;
    else if (RESTRICTING.has(sym)) frame.lost.push(word);
    if (CUES.has(sym)) this.#cue = sym;
  }

  /** "Db should be reached by web": who stands before it is the target. */
  #turn(): void {
    const frame = this.#frame;
    this.#passive = true;
    if (frame.targets.length === 0) [frame.sources, frame.targets] = [[], frame.sources];
  }

  #plain(word: Token, at: number): void {
    const frame = this.#frame;
    const { text } = word;
    if (text === 'other' || text === 'else' || text === 'rest') {
      if (this.#atoms.some((atom) => /^(?:stays?|remains?|change|unchanged)$/.test(textOf(atom))))
        frame.elseStays = true;
      else if (frame.polarity === 'close' || this.#atoms.some((atom) => textOf(atom) === 'closed'))
        frame.elseClosed = true;
      else if (!frame.elseClosed && !frame.elseStays) frame.lost.push(word);
      return;
    }
    if (['she', 'he', 'they', 'we', 'who'].includes(text)) frame.pronoun = true;
    else if (frame.elseStays && /^(?:ports?|as|stays?|remains?|change|any)$/.test(text)) return;
    else if (RESTRICTING_WORDS.has(text) || (COUNTS.has(text) && this.#atoms.some(({ kind }) => kind === 'who')))
      frame.lost.push(word);
    else if (!isIdle(word) && !QUIET.has(text)) (this.#narrows(at) ? frame.lost : frame.unknown).push(word);
    if (this.#cue === 'FROM' && text.endsWith('ing')) this.#cue = 'REACHING';
  }

  /** "The central engineers", "over gopherd": a word that is not known says which of them, or on what. */
  #narrows(at: number): boolean {
    const [before, next] = [this.#atoms[at - 1], this.#atoms[at + 1]];
    const sym = symOf(before);
    if (sym === 'ON' || sym === 'OVER')
      return next?.kind !== 'ports' && !(symOf(next) === 'ON' && this.#atoms[at + 2]?.kind === 'ports');
    const isGroup = next?.kind === 'who' && next.says.includes('=') && !isIdle(next.tokens[0] ?? ANY);
    if (!isGroup || /ing$/.test(textOf(this.#atoms[at]))) return false;
    const isArticle = before?.kind === 'word' && isIdle(before.word);
    return before === undefined || isArticle || (sym !== undefined && !BEFORE_VERBS.has(sym));
  }
}

const DENIALS: ReadonlySet<Sym> = new Set(['NOT', 'NO', 'MAY_NOT']);
/** "Anything to web-2" is what, not whom. */
const AFTER_WHAT: ReadonlySet<Sym> = new Set(['TO', 'FROM', 'ON', 'OVER']);
const ANY: Token = { text: '', quoted: false };
