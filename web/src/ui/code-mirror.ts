import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export interface YamlView {
  /** Another text from outside of the editor. */
  show(text: string): void;
  destroy(): void;
}

interface YamlOptions {
  readonly label: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

/**
 * A code editor in a shadow root: there its styles are adopted sheets, which the security policy allows. Tab moves the
 * focus on, as everywhere.
 */
export function mountYaml(host: HTMLElement, { label, text, isReadOnly, onChange }: YamlOptions): YamlView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  let isShowing = false;
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        yaml(),
        syntaxHighlighting(COLOURS),
        THEME,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorState.readOnly.of(isReadOnly),
        EditorView.editable.of(!isReadOnly),
        EditorView.domEventHandlers({ beforeinput: replaceSelected }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged && !isShowing) onChange(state.doc.toString());
        }),
      ],
    }),
  });
  return {
    show(next) {
      const now = view.state.doc.toString();
      if (next === now) return;
      isShowing = true;
      view.dispatch({ changes: { from: 0, to: now.length, insert: next } });
      isShowing = false;
    },
    destroy: () => view.destroy(),
  };
}

/** Typed over a selection. The browser would keep its colour by an inline style, which the security policy refuses. */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const { inputType, data, isComposing } = event;
  if (inputType !== 'insertText' || data === null || isComposing || view.state.readOnly) return false;
  if (view.state.selection.ranges.every(({ empty }) => empty)) return false;
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  event.preventDefault();
  return true;
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.comment], color: 'var(--text-dim)', fontStyle: 'italic' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--opens)' },
]);

const THEME = EditorView.theme({
  '&': { fontSize: '13px', maxHeight: '45vh', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', minHeight: '160px' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface-low)',
    color: 'var(--text-dim)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'var(--surface-low)' },
  '.cm-matchingBracket': { outline: '1px solid var(--line-strong)' },
});
