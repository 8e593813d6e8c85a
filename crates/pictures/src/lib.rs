//! Pictures of pages, compared: to the pixel, or as people see them.
//!
//! As people see them: the difference of two colours is measured in YIQ (Kotsarenko and Ramos, "Measuring perceived color
//! difference using YIQ NTSC transmission color space in mobile applications", 2010), and a pixel that only smooths an edge is
//! none (Vyšniauskas, "Anti-aliased Pixel and Intensity Slope Detector", 2009).

mod compare;

use std::io::Cursor;

pub use compare::{Area, Difference, Method, compare};

/// Most pixels of a picture's side: of two pictures together, each may be the larger on one side.
const MAX_SIDE: u32 = 10_000;

/// Why a picture is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// It is no PNG, or damaged.
    #[error("it is no PNG that can be read: {0}")]
    Decode(#[from] png::DecodingError),
    /// It could not be written.
    #[error("the picture could not be written: {0}")]
    Encode(#[from] png::EncodingError),
    /// It has too many pixels.
    #[error("{0} × {1} pixels are too many")]
    TooLarge(u32, u32),
}

/// A picture: rows of red, green, blue and alpha.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 4]>,
}

impl Picture {
    /// Of one colour.
    #[must_use]
    pub fn plain(width: u32, height: u32, color: [u8; 4]) -> Self {
        Self { width, height, pixels: vec![color; width as usize * height as usize] }
    }

    /// In pixels.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// In pixels.
    #[must_use]
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// The colour at a place; none outside.
    #[must_use]
    pub fn at(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        self.pixels.get(y as usize * self.width as usize + x as usize).copied()
    }

    /// Sets the colour at a place; outside, nothing happens.
    pub fn set(&mut self, x: u32, y: u32, color: [u8; 4]) {
        if x < self.width
            && let Some(pixel) = self.pixels.get_mut(y as usize * self.width as usize + x as usize)
        {
            *pixel = color;
        }
    }

    /// The colour of its last corner, which is the page's own where a page is larger than what is on it.
    #[must_use]
    pub fn ground(&self) -> Option<[u8; 4]> {
        self.pixels.last().copied()
    }

    /// How wide and high it must be to hold every pixel of another colour than `ground`; 0 × 0 where there is none.
    #[must_use]
    pub fn extent(&self, ground: [u8; 4]) -> (u32, u32) {
        let (mut width, mut height) = (0, 0);
        for (y, row) in (1..).zip(self.pixels.chunks(self.width.max(1) as usize)) {
            let last = (1..).zip(row).filter(|(_, pixel)| **pixel != ground).map(|(x, _): (u32, _)| x).last();
            if let Some(last) = last {
                (width, height) = (width.max(last), y);
            }
        }
        (width, height)
    }

    /// Its part from the first corner on, no larger than it is.
    #[must_use]
    pub fn part(&self, width: u32, height: u32) -> Self {
        let (width, height) = (width.min(self.width), height.min(self.height));
        let rows = self.pixels.chunks(self.width.max(1) as usize).take(height as usize);
        let pixels = rows.flat_map(|row| row.iter().take(width as usize)).copied().collect();
        Self { width, height, pixels }
    }

    /// Reads a PNG of any colour type.
    pub fn read(bytes: &[u8]) -> Result<Self, PictureError> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder
            .set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
        let mut reader = decoder.read_info()?;
        let (width, height) = (reader.info().width, reader.info().height);
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(PictureError::TooLarge(width, height));
        }
        let size = reader.output_buffer_size().ok_or(PictureError::TooLarge(width, height))?;
        let mut buffer = vec![0; size];
        let frame = reader.next_frame(&mut buffer)?;
        let bytes = buffer.get(..frame.buffer_size()).unwrap_or_default();
        let pixels = match frame.color_type {
            png::ColorType::GrayscaleAlpha => {
                bytes.chunks_exact(2).map(|p| [p[0], p[0], p[0], p[1]]).collect()
            }
            _ => bytes.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]]).collect(),
        };
        Ok(Self { width, height, pixels })
    }

    /// As PNG. The same picture always gives the same bytes.
    pub fn write(&self) -> Result<Vec<u8>, PictureError> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_holds_what_is_drawn_is_cut_out() {
        let white = [255, 255, 255, 255];
        let mut picture = Picture::plain(20, 10, white);
        assert_eq!((picture.ground(), picture.extent(white)), (Some(white), (0, 0)));
        picture.set(3, 6, [1, 2, 3, 255]);
        picture.set(8, 2, [1, 2, 3, 255]);
        assert_eq!(picture.extent(white), (9, 7));
        let part = picture.part(9, 7);
        assert_eq!((part.width(), part.height(), part.at(8, 2)), (9, 7, Some([1, 2, 3, 255])));
        assert_eq!((part.at(3, 6), part.at(3, 5)), (Some([1, 2, 3, 255]), Some(white)));
        assert_eq!(picture.part(99, 99), picture);
    }

    #[test]
    fn a_picture_is_read_as_it_was_written() {
        let mut picture = Picture::plain(3, 2, [1, 2, 3, 255]);
        picture.set(2, 1, [255, 0, 0, 128]);
        picture.set(9, 9, [0; 4]);
        let bytes = picture.write().unwrap();
        assert_eq!(Picture::read(&bytes).unwrap(), picture);
        assert_eq!(picture.write().unwrap(), bytes, "always the same");
        assert_eq!((picture.at(2, 1), picture.at(3, 0)), (Some([255, 0, 0, 128]), None));
        assert!(matches!(Picture::read(b"no png"), Err(PictureError::Decode(_))));
        assert!(Picture::read(&bytes[..bytes.len() / 2]).is_err());
        let long = Picture::plain(1, MAX_SIDE + 1, [0; 4]).write().unwrap();
        assert!(matches!(Picture::read(&long), Err(PictureError::TooLarge(1, _))));
    }

    #[test]
    fn other_colour_types_are_the_same_picture() {
        let encoded = |color: png::ColorType, depth: png::BitDepth, data: &[u8]| {
            let mut out = Vec::new();
            let mut encoder = png::Encoder::new(&mut out, 2, 1);
            encoder.set_color(color);
            encoder.set_depth(depth);
            let mut writer = encoder.write_header().unwrap();
            writer.write_image_data(data).unwrap();
            writer.finish().unwrap();
            Picture::read(&out).unwrap()
        };
        let wanted = encoded(png::ColorType::Rgba, png::BitDepth::Eight, &[9, 9, 9, 255, 200, 200, 200, 255]);
        for (color, depth, data) in [
            (png::ColorType::Rgb, png::BitDepth::Eight, &[9, 9, 9, 200, 200, 200][..]),
            (png::ColorType::Grayscale, png::BitDepth::Eight, &[9, 200]),
            (png::ColorType::GrayscaleAlpha, png::BitDepth::Eight, &[9, 255, 200, 255]),
            (png::ColorType::Rgb, png::BitDepth::Sixteen, &[9, 0, 9, 0, 9, 0, 200, 0, 200, 0, 200, 0]),
        ] {
            assert_eq!(encoded(color, depth, data), wanted, "{color:?} {depth:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_judged(bytes in proptest::collection::vec(0_u8.., 0..200), cut in 0_usize..70) {
            let _ = Picture::read(&bytes);
            let mut png = Picture::plain(4, 4, [7; 4]).write().unwrap();
            for (at, byte) in bytes.iter().enumerate().take(3) {
                let place = (cut + at * 7) % png.len();
                png[place] ^= byte;
            }
            let _ = Picture::read(&png);
        }
    }
}
