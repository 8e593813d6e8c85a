//! Pictures of components that do not exist: boxes with soft corners, and bars where text would be.

use std::io::Cursor;

use kits::Picture;

type Color = [u8; 3];

/// A drawing, its pixels from the upper left.
pub(crate) struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<Color>,
}

impl Canvas {
    pub(crate) fn new(width: u32, height: u32, color: Color) -> Self {
        Self { width, height, pixels: vec![color; (width * height) as usize] }
    }

    /// Mixes a colour into each pixel, by what a function of its distance to a rounded box says.
    fn mix(&mut self, [x, y, w, h]: [f64; 4], r: f64, color: Color, cover: impl Fn(f64) -> f64) {
        for (at, pixel) in self.pixels.iter_mut().enumerate() {
            let (px, py) = (f64::from(at as u32 % self.width) + 0.5, f64::from(at as u32 / self.width) + 0.5);
            let dx = (px - x - w / 2.0).abs() - w / 2.0 + r;
            let dy = (py - y - h / 2.0).abs() - h / 2.0 + r;
            let distance = dx.max(dy).min(0.0) + dx.max(0.0).hypot(dy.max(0.0)) - r;
            let share = cover(distance).clamp(0.0, 1.0);
            for (part, to) in pixel.iter_mut().zip(color) {
                *part = (f64::from(*part) + (f64::from(to) - f64::from(*part)) * share).round() as u8;
            }
        }
    }

    fn fill(&mut self, place: [f64; 4], r: f64, color: Color) {
        self.mix(place, r, color, |d| 0.5 - d);
    }

    fn edge(&mut self, place: [f64; 4], r: f64, width: f64, color: Color) {
        self.mix(place, r, color, |d| (0.5 - d).min(d + width + 0.5));
    }

    fn shadow(&mut self, [x, y, w, h]: [f64; 4], r: f64, blur: f64, strength: f64) {
        let soft = |d: f64| {
            let t = ((blur - d) / (2.0 * blur)).clamp(0.0, 1.0);
            strength * t * t * (3.0 - 2.0 * t)
        };
        self.mix([x, y + blur / 3.0, w, h], r, [10, 12, 24], soft);
    }

    /// A line of text, as a bar.
    fn text(&mut self, x: f64, y: f64, width: f64, size: f64, color: Color) {
        self.fill([x, y, width, size], size / 2.0, color);
    }

    pub(crate) fn png(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(Cursor::new(&mut out), self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&self.pixels.concat()).unwrap();
        writer.finish().unwrap();
        out
    }

    pub(crate) fn picture(&self, path: &str) -> Picture {
        Picture { path: path.to_owned(), width: self.width, height: self.height }
    }

    /// What differs in red over a pale picture, and in how many pixels.
    pub(crate) fn against(&self, before: &Self) -> (Self, u64) {
        let (width, height) = (self.width.max(before.width), self.height.max(before.height));
        let mut out = Self::new(width, height, [255; 3]);
        let mut differ = 0;
        for (at, pixel) in out.pixels.iter_mut().enumerate() {
            let (x, y) = (at as u32 % width, at as u32 / width);
            let of = |c: &Self| (x < c.width && y < c.height).then(|| c.pixels[(y * c.width + x) as usize]);
            let (was, is) = (of(before), of(self));
            *pixel = is.or(was).unwrap_or([255; 3]).map(|p| 255 - (255 - p) / 4);
            if was != is {
                differ += 1;
                *pixel = [229, 28, 82];
            }
        }
        (out, differ)
    }

    pub(crate) fn size(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// What components are painted with.
struct Paint {
    page: Color,
    card: Color,
    ink: Color,
    soft: Color,
    line: Color,
    primary: Color,
    on_primary: Color,
    danger: Color,
    good: Color,
    radius: f64,
}

fn paint(is_dark: bool, is_after: bool) -> Paint {
    let radius = if is_after { 10.0 } else { 6.0 };
    if is_dark {
        Paint {
            page: [17, 19, 24],
            card: [28, 31, 38],
            ink: [232, 234, 240],
            soft: [138, 146, 160],
            line: [52, 57, 67],
            primary: if is_after { [165, 180, 252] } else { [129, 140, 248] },
            on_primary: [20, 22, 40],
            danger: [248, 113, 113],
            good: [74, 222, 128],
            radius,
        }
    } else {
        Paint {
            page: [255, 255, 255],
            card: [255, 255, 255],
            ink: [30, 33, 40],
            soft: [124, 130, 141],
            line: [222, 224, 229],
            primary: if is_after { [67, 56, 202] } else { [99, 91, 255] },
            on_primary: [255, 255, 255],
            danger: [204, 38, 38],
            good: [22, 140, 80],
            radius,
        }
    }
}

/// A component as it is now or was.
pub(crate) fn component(name: &str, is_dark: bool, is_after: bool) -> Canvas {
    let p = paint(is_dark, is_after);
    let mut c = match name {
        "Card" => Canvas::new(420, 300, if is_dark { p.page } else { [246, 246, 248] }),
        "Data table" => Canvas::new(960, 420, p.page),
        "Alert" => Canvas::new(560, 150, p.page),
        "Dialog" => Canvas::new(640, 400, if is_dark { [8, 9, 12] } else { [120, 123, 131] }),
        "Tabs" => Canvas::new(520, 110, p.page),
        "Text field" => Canvas::new(400, if is_after { 132 } else { 124 }, p.page),
        "Side navigation" => Canvas::new(240, 560, p.card),
        _ => Canvas::new(360, 120, p.page),
    };
    match name {
        "Button" | "Button, destructive" => {
            let ground = if name == "Button" { p.primary } else { p.danger };
            let height = if is_after { 44.0 } else { 40.0 };
            c.fill([28.0, 38.0, 136.0, height], p.radius, ground);
            c.text(58.0, 38.0 + height / 2.0 - 5.0, 76.0, 10.0, p.on_primary);
            c.edge([184.0, 38.0, 136.0, height], p.radius, 1.5, p.line);
            c.text(214.0, 38.0 + height / 2.0 - 5.0, 76.0, 10.0, p.ink);
        }
        "Text field" => {
            c.text(24.0, 20.0, 96.0, 9.0, p.ink);
            let height = if is_after { 48.0 } else { 40.0 };
            c.edge([24.0, 40.0, 352.0, height], p.radius, 1.5, if is_after { p.soft } else { p.line });
            c.text(40.0, 40.0 + height / 2.0 - 5.0, 140.0, 10.0, p.soft);
            c.text(24.0, 40.0 + height + 14.0, 210.0, 8.0, p.soft);
        }
        "Card" => {
            let place = [50.0, 40.0, 320.0, 216.0];
            let (blur, strength) = if is_after { (26.0, 0.22) } else { (9.0, 0.28) };
            c.shadow(place, p.radius + 4.0, blur, strength);
            c.fill(place, p.radius + 4.0, p.card);
            c.fill([50.0, 40.0, 320.0, 90.0], p.radius + 4.0, p.primary);
            c.fill([50.0, 100.0, 320.0, 40.0], 0.0, p.card);
            c.text(74.0, 124.0, 170.0, 13.0, p.ink);
            for (y, width) in [(156.0, 260.0), (176.0, 236.0), (196.0, 150.0)] {
                c.text(74.0, y, width, 9.0, p.soft);
            }
            c.text(74.0, 226.0, 70.0, 10.0, p.primary);
        }
        "Alert" => {
            c.fill(
                [20.0, 24.0, 520.0, 102.0],
                p.radius,
                if is_dark { [54, 26, 28] } else { [253, 236, 234] },
            );
            c.fill([20.0, 24.0, 4.0, 102.0], 0.0, p.danger);
            c.fill([44.0, 48.0, 22.0, 22.0], 11.0, p.danger);
            c.text(84.0, 50.0, 190.0, 12.0, p.ink);
            c.text(84.0, 76.0, 400.0, 9.0, p.soft);
            c.text(84.0, 96.0, 310.0, 9.0, p.soft);
        }
        "Tabs" => {
            c.fill([20.0, 80.0, 480.0, 1.5], 0.0, p.line);
            for (i, width) in [70.0, 92.0, 58.0, 80.0].into_iter().enumerate() {
                let x = 36.0 + i as f64 * 118.0;
                c.text(x, 48.0, width, 10.0, if i == 1 { p.primary } else { p.soft });
            }
            c.fill([142.0, 77.5, 116.0, 3.0], 1.5, p.primary);
        }
        "Data table" => {
            c.edge([24.0, 24.0, 912.0, 372.0], p.radius, 1.5, p.line);
            for row in 0..7 {
                let y = 44.0 + f64::from(row) * 52.0;
                for (x, width) in [(56.0, 150.0), (300.0, 110.0), (500.0, 130.0)] {
                    let width = width - f64::from(row * 37 % 5) * 14.0;
                    c.text(
                        x,
                        y,
                        width,
                        if row == 0 { 9.0 } else { 10.0 },
                        if row == 0 { p.soft } else { p.ink },
                    );
                }
                let state = if row % 3 == 1 { p.good } else { p.primary };
                if row > 0 {
                    c.fill([720.0, y - 7.0, 84.0, 24.0], if is_after { 12.0 } else { 5.0 }, state);
                    c.text(740.0, y + 1.0, 44.0, 8.0, p.on_primary);
                    c.fill([24.0, y - 21.0, 912.0, 1.0], 0.0, p.line);
                }
            }
        }
        "Dialog" => {
            let place = [90.0, 60.0, 460.0, 280.0];
            c.shadow(place, 16.0, 30.0, 0.4);
            c.fill(place, p.radius + 6.0, p.card);
            c.text(122.0, 96.0, 200.0, 15.0, p.ink);
            for (y, width) in [(140.0, 390.0), (162.0, 360.0), (184.0, 380.0), (206.0, 220.0)] {
                c.text(122.0, y, width, 10.0, p.soft);
            }
            c.fill([398.0, 272.0, 120.0, 42.0], p.radius, p.primary);
            c.text(426.0, 288.0, 64.0, 10.0, p.on_primary);
            c.text(316.0, 288.0, 54.0, 10.0, p.ink);
        }
        "Switch" => {
            for (i, on) in [true, false].into_iter().enumerate() {
                let x = 80.0 + i as f64 * 110.0;
                c.fill([x, 42.0, 64.0, 36.0], 18.0, if on { p.primary } else { p.line });
                c.fill([if on { x + 31.0 } else { x + 3.0 }, 45.0, 30.0, 30.0], 15.0, [255, 255, 255]);
            }
        }
        "Avatar" => {
            for (i, color) in [p.primary, p.good, p.danger, p.soft].into_iter().enumerate() {
                c.fill([66.0 + i as f64 * 50.0, 28.0, 64.0, 64.0], 32.0, p.page);
                c.fill([69.0 + i as f64 * 50.0, 31.0, 58.0, 58.0], 29.0, color);
            }
        }
        "Side navigation" => {
            for row in 0..9 {
                let y = 32.0 + f64::from(row) * 56.0;
                if row == 2 {
                    c.fill([14.0, y - 12.0, 212.0, 40.0], p.radius, p.primary);
                }
                let color = if row == 2 { p.on_primary } else { p.soft };
                c.fill([32.0, y, 16.0, 16.0], 4.0, color);
                c.text(64.0, y + 3.0, 80.0 + f64::from(row * 29 % 50), 10.0, color);
            }
        }
        _ => {
            c.fill([110.0, 34.0, 140.0, 34.0], p.radius, p.ink);
            c.text(130.0, 46.0, 100.0, 9.0, p.page);
            c.fill([172.0, 62.0, 14.0, 14.0], 2.0, p.ink);
        }
    }
    c
}
