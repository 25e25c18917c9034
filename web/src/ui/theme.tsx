import { signal } from '@preact/signals';
import { texts } from '../texts/texts.ts';

type Theme = 'system' | 'light' | 'dark';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const KEY = 'mesh.theme';

const theme = signal<Theme>(THEMES.find((name) => name === localStorage.getItem(KEY)) ?? 'system');
show(theme.value);

function show(name: Theme): void {
  if (name === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = name;
}

export function ThemeSwitch() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
  const turn = () => {
    theme.value = next;
    localStorage.setItem(KEY, next);
    show(next);
  };
  return (
    <button type="button" class="quiet" onClick={turn} title={texts.shell.themeWhy}>
      {texts.shell.theme[theme.value]}
    </button>
  );
}
