import { signal } from '@preact/signals';
import { keepTheme, keptTheme, THEMES, type Theme } from './theme-choice.ts';

export const THEME_NAMES: Record<Theme, string> = {
  system: 'Theme of the system',
  light: 'Light mode',
  dark: 'Dark mode',
};

const theme = signal<Theme>(keptTheme());

export function setTheme(next: Theme): void {
  theme.value = next;
  keepTheme(next);
}

export function ThemeSwitch() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
  return (
    <button
      type="button"
      class="quiet"
      onClick={() => setTheme(next)}
      title="Change between light, dark and what the system says"
    >
      Theme: {theme.value}
    </button>
  );
}
