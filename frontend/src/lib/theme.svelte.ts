/** Light or dark: what the person chose here, else the system's wish. */

type Theme = "light" | "dark";

const system = matchMedia("(prefers-color-scheme: dark)");

function kept(): Theme | null {
  try {
    const value = localStorage.getItem("manyview-theme");
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // storage may be switched off
  }
}

class ThemeChoice {
  #chosen: Theme | null = $state(kept());
  #system: Theme = $state(system.matches ? "dark" : "light");

  constructor() {
    system.addEventListener("change", () => (this.#system = system.matches ? "dark" : "light"));
    this.#show();
  }

  get current(): Theme {
    return this.#chosen ?? this.#system;
  }

  toggle(): void {
    const other = this.current === "dark" ? "light" : "dark";
    this.#chosen = other === this.#system ? null : other;
    try {
      if (this.#chosen) localStorage.setItem("manyview-theme", this.#chosen);
      else localStorage.removeItem("manyview-theme");
    } catch {
      // it then lasts until the page is closed
    }
    this.#show();
  }

  #show(): void {
    if (this.#chosen) document.documentElement.dataset["theme"] = this.#chosen;
    else delete document.documentElement.dataset["theme"];
  }
}

export const theme = new ThemeChoice();
